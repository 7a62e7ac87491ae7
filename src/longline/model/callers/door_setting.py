"""Settings of one API that its admins keep in the database; they override the operator's for that API alone."""

import re

import msgspec

_KEY = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
MAX_KEY_CHARS = 100
"""Form and longest key of a setting."""

KEY_TEXT = "Key must follow dot-notation format (e.g. site.name)"
MAINTENANCE_KEY = "site.maintenance_mode"
"""Setting of an API that closes it to everyone but admins while its value is `true`."""


class DoorSettingRow(msgspec.Struct, frozen=True):
    """A setting as stored; ids count from 100000."""

    id: int
    door: str
    key: str
    value: str | None
    description: str | None
    created_at: int
    updated_at: int


def is_setting_key(text: str) -> bool:
    """Return whether a text has the form of a setting's key."""
    return len(text) <= MAX_KEY_CHARS and _KEY.fullmatch(text) is not None
