"""Every setting: one typed, frozen object, with its keys in one module for each subject.

A msgspec struct has one base, so the structs of the subjects form a chain, in the order of the manual.
"""

import ipaddress
from typing import Any, get_type_hints

import msgspec

from longline.settings.keys.bots import BotKeys
from longline.settings.keys.engines import EngineKeys
from longline.settings.keys.fetch import FetchKeys
from longline.settings.keys.frontier import FrontierKeys
from longline.settings.keys.logs import LogKeys
from longline.settings.keys.manifests import ManifestKeys
from longline.settings.keys.parse import ParseKeys
from longline.settings.keys.products import ProductKeys
from longline.settings.keys.schedules import ScheduleKeys
from longline.settings.keys.server import ServerKeys
from longline.settings.keys.sources import SourceKeys
from longline.settings.tables import Tables
from longline.settings.values import Key, mask


class Settings(ManifestKeys, frozen=True, kw_only=True):
    """The operator's settings, each with a default. Durations are seconds, sizes are bytes."""

    tables: Tables = Tables()

    def __post_init__(self) -> None:
        here = self.data.absolute()
        msgspec.structs.force_setattr(self, "data", here)
        if not self.database:
            msgspec.structs.force_setattr(self, "database", f"sqlite:///{here / 'longline.db'}")
        if not self.objects:
            msgspec.structs.force_setattr(self, "objects", (here / "objects").as_uri())
        if not self.run_log_objects:
            msgspec.structs.force_setattr(self, "run_log_objects", self.objects)

    @property
    def loopback(self) -> bool:
        """Return True if the server can be reached from this machine alone."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def is_open(self, access: str) -> bool:
        """Return True if an API with this access needs no credentials."""
        return access == "open" or (access == "auto" and self.loopback)

    def display(self, name: str) -> str:
        """Return the value of a key as a person would write it, secrets masked."""
        value = getattr(self, name)
        key = KEYS[name]
        if key.secret:
            return "***" if value else ""
        return key.kind.show(value)

    def __repr__(self) -> str:
        # The object may end up in a log line; passwords must not.
        return "Settings(" + ", ".join(f"{name}={self.display(name)!r}" for name in KEYS) + ")"


def _keys() -> dict[str, Key]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: hints[name].__metadata__[0] for name in Settings.__struct_fields__ if name != "tables"}


KEYS: dict[str, Key] = _keys()
"""Every key with its kind and help text, in the order of the manual."""

SUBJECTS: dict[str, type[EngineKeys]] = {
    "Engines": EngineKeys,
    "Server": ServerKeys,
    "Workers and frontier": FrontierKeys,
    "Fetch": FetchKeys,
    "Parse": ParseKeys,
    "Schedules": ScheduleKeys,
    "Sources, feeds and discovery": SourceKeys,
    "Logs": LogKeys,
    "Bots": BotKeys,
    "Products": ProductKeys,
    "Manifests": ManifestKeys,
}
"""The chain of structs by the titles of the manual's sections."""


def keys_of(subject: str) -> list[str]:
    """Return the names of the keys of a subject."""
    return list(SUBJECTS[subject].__annotations__)


def default_text(name: str) -> str:
    """Return the default of a key as the manual shows it, free of this machine's paths."""
    fields: dict[str, Any] = {f.name: f.default for f in msgspec.structs.fields(Settings)}
    derived = {
        "database": "sqlite in the data folder",
        "objects": "folder in the data folder",
        "run_log_objects": "objects",
    }
    return derived.get(name) or mask(KEYS[name].kind.show(fields[name]))
