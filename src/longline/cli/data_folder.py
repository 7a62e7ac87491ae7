"""Data folders of commands that read: none of them makes one."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from longline.cli.event_loop import run
from longline.model.errors import NotFound
from longline.settings import Loaded, Settings

T = TypeVar("T")
_SQLITE = "sqlite:///"

READ_KEYS = ("data", "database", "objects", "log_level")

REPAIR_COMMANDS = "longline doctor --deep --repair, or longline crawl --again"
"""Commands that let damaged pages be fetched again."""


def archive_settings(loaded: Loaded) -> Settings:
    """Return the settings, adapted to a folder of `longline crawl`, which has its archive beside the database."""
    settings = loaded.settings
    if loaded.origins["objects"] == "default" and (settings.data / "warc").is_dir():
        return msgspec.structs.replace(settings, objects=settings.data.as_uri())
    return settings


def read_rows(loaded: Loaded, work: Callable[[], Coroutine[Any, Any, list[T]]]) -> list[T]:
    """Run the asynchronous part of a command that lists rows; without a database there are none, and none is made."""
    return run(work()) if _has_database(loaded.settings) else []


def read(loaded: Loaded, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the asynchronous part of a command that reads; without a database raise `NotFound`, and make none."""
    if not _has_database(loaded.settings):
        raise NotFound("database", text=f"there is no database in {loaded.settings.data}; name its folder with --data")
    return run(work())


def _has_database(settings: Settings) -> bool:
    return not settings.database.startswith(_SQLITE) or Path(settings.database.removeprefix(_SQLITE)).is_file()
