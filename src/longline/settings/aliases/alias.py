"""Aliases: environment variables of a contract, and the settings that they stand for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from longline.settings.values import SWITCH, TEXT, Kind, integer

Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Alias:
    """Variables that together set `settings`; `build` returns an empty dict when their values set none.

    `kinds` check variables that `build` converts; a text passed on unchanged is read by the kind of its setting.
    """

    names: tuple[str, ...]
    settings: tuple[str, ...]
    build: Callable[[Variables], dict[str, str]]
    kinds: Mapping[str, Kind] = field(default_factory=dict)


def renamed(name: str, setting: str) -> Alias:
    """Return an alias for a variable with the value of its setting."""
    return Alias((name,), (setting,), lambda found: {setting: found[name]})


def with_unit(name: str, setting: str, unit: str) -> Alias:
    """Return an alias for a variable that counts whole units of time."""
    return Alias((name,), (setting,), lambda found: {setting: found[name].strip() + unit}, {name: integer(1)})


def negated(name: str, setting: str) -> Alias:
    """Return an alias for a variable with the opposite meaning of its setting."""
    return Alias((name,), (setting,), lambda found: {setting: str(not is_on(found, name))}, switches(name))


def switches(*names: str) -> dict[str, Kind]:
    """Return the kinds of variables that are switches."""
    return dict.fromkeys(names, SWITCH)


def is_on(found: Variables, name: str) -> bool:
    """Return whether a switch is set and on."""
    return bool(SWITCH.read(found.get(name, "false")))


def prefixed(prefix: str, names: str) -> tuple[str, ...]:
    """Return names, separated by spaces, with a prefix each."""
    return tuple(prefix + name for name in names.split())


class IgnoredVariable(NamedTuple):
    """The reason why a variable has no effect, and the kind that its value must have."""

    reason: str
    kind: Kind = TEXT
