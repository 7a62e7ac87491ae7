"""Settings of commands that read an archive."""

import msgspec

from longline.settings import Loaded, Settings

READ_KEYS = ("data", "database", "objects", "log_level")

REPAIR_COMMANDS = "longline doctor --deep --repair, or longline crawl --again"
"""Commands that let damaged pages be fetched again."""


def archive_settings(loaded: Loaded) -> Settings:
    """Return the settings, adapted to a folder of `longline crawl`, which has its archive beside the database."""
    settings = loaded.settings
    if loaded.origins["objects"] == "default" and (settings.data / "warc").is_dir():
        return msgspec.structs.replace(settings, objects=settings.data.as_uri())
    return settings
