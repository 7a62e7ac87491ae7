"""Settings of a child process, passed by its environment so that parent and child agree."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.settings.aliases import canonical_name
from longline.settings.keys import KEYS, Settings
from longline.settings.tables.loader import TABLES_NAME, encoded

PREFIX = "LONGLINE_"


def child_environment(settings: Settings, present: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process: the present one, with these settings in the place of its own."""
    others = {name: value for name, value in present.items() if not name.startswith(PREFIX)}
    return others | settings_as_environment(settings_of_child(settings))


def settings_of_child(settings: Settings) -> Settings:
    """Return the settings of a child: a port cannot be bound twice, and a child starts no children."""
    return msgspec.structs.replace(settings, profile_port=0, workers=1)


def settings_as_environment(settings: Settings) -> dict[str, str]:
    """Return the variables from which a process reads exactly these settings."""
    values = {name: getattr(settings, name) for name in KEYS}
    given = {canonical_name(name): _text_of(name, value) for name, value in values.items() if value not in ("", ())}
    return given | {TABLES_NAME: encoded(settings.tables)}


def _text_of(name: str, value: Any) -> str:
    # Texts and lists are passed unchanged: `show` masks passwords.
    if isinstance(value, str):
        return value
    return ",".join(value) if isinstance(value, tuple) else KEYS[name].kind.show(value)
