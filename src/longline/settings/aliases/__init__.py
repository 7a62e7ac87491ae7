"""Names of the contracts for our settings, one module for each contract."""

from longline.settings.aliases.alias import Alias
from longline.settings.aliases.intervals import IGNORED_VARIABLES, INTERVAL_ALIASES

__all__ = ["ALIASES", "IGNORED_VARIABLES", "canonical_name", "environment_names"]

ALIASES: tuple[Alias, ...] = INTERVAL_ALIASES
"""Aliases of every contract; where two rows set the same key the earlier row wins."""


def environment_names(setting: str) -> tuple[str, ...]:
    """Return the environment names of a key, the canonical name first."""
    return (canonical_name(setting), *(n for alias in ALIASES if setting in alias.settings for n in alias.names))


def canonical_name(setting: str) -> str:
    """Return the canonical environment name of a key."""
    return "LONGLINE_" + setting.upper()
