"""Settings of a child process, passed by its environment so that parent and child agree."""

from typing import Any

from longline.settings.aliases import canonical_name
from longline.settings.keys import KEYS, Settings
from longline.settings.tables.loader import TABLES_NAME, encoded


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment in which a child process reads exactly these settings."""
    values = {name: getattr(settings, name) for name in KEYS}
    given = {canonical_name(name): _text_of(name, value) for name, value in values.items() if value not in ("", ())}
    return given | {TABLES_NAME: encoded(settings.tables)}


def _text_of(name: str, value: Any) -> str:
    # Texts and lists are passed unchanged: `show` masks passwords.
    if isinstance(value, str):
        return value
    return ",".join(value) if isinstance(value, tuple) else KEYS[name].kind.show(value)
