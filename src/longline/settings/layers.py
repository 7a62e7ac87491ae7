"""Layers of settings: a file, then the environment, then flags; the later layer wins."""

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from longline.model.errors import BadInput, UnknownSetting
from longline.settings.cross_checks import check_consistency, security_warnings
from longline.settings.env_aliases import ALIASES, Alias, canonical_name, environment_names
from longline.settings.ignored_env import IGNORED_VARIABLES
from longline.settings.keys import KEYS, Settings

FILE_NAME = "longline.toml"
CONFIG_NAME, DEBUG_NAME = "LONGLINE_CONFIG", "LONGLINE_DEBUG"
_NOT_SETTINGS = frozenset({CONFIG_NAME, DEBUG_NAME})
_TEST_PREFIX = "LONGLINE_TEST_"


class RawValue(NamedTuple):
    """A value as written in a layer, and its origin."""

    raw: Any
    origin: str


class Loaded(msgspec.Struct, frozen=True):
    """Settings, the origin of each (`default` if not set), and warnings for the operator."""

    settings: Settings
    origins: dict[str, str]
    notes: tuple[str, ...] = ()


Layer = dict[str, RawValue]


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Loaded:
    """Read every layer. `flags` maps keys to typed values (None if not typed), `config` names the file."""
    environ = _non_empty(os.environ if environ is None else environ)
    file = _file_layer(config, environ)
    aliased, notes = _contract_layer(environ)
    typed = {key: RawValue(raw, flag_name(key)) for key, raw in (flags or {}).items() if raw is not None}
    given = {**file, **aliased, **_own_layer(environ), **typed}
    settings = Settings(**{key: _read(key, one) for key, one in given.items()})
    origins = {key: given[key].origin if key in given else "default" for key in KEYS}
    check_consistency(settings, origins)
    return Loaded(settings, origins, (*notes, *_without_effect(given, settings), *security_warnings(settings, origins)))


def flag_name(key: str) -> str:
    """Return the flag of a key on the command line."""
    return "--" + key.replace("_", "-")


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the entry of `words` that is most similar to `word`."""
    return difflib.get_close_matches(word, list(words), n=1, cutoff=0.0)[0]


def _unknown(name: str, where: str, known: Iterable[str]) -> UnknownSetting:
    return UnknownSetting(f"{where}: there is no setting {name}; the nearest is {nearest(name, known)}")


def _non_empty(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are not empty: shells and compose files set a missing variable to an empty text.

    An empty JWT secret is an error, because a generated secret would replace it unnoticed.
    """
    for name in environment_names("jwt_secret"):
        if environ.get(name) == "":
            raise BadInput(f"{name} is empty; set a secret, or unset the variable to have one generated")
    return {name: value for name, value in environ.items() if value}


def _file_layer(config: Path | None, environ: Mapping[str, str]) -> Layer:
    named = config or (Path(environ[CONFIG_NAME]) if CONFIG_NAME in environ else None)
    path = named or Path(FILE_NAME)
    if named is None and not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"settings file {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"settings file {path} is not TOML: {error}") from error
    for key in table:
        if key not in KEYS:
            raise _unknown(key, str(path), KEYS)
    return {key: RawValue(raw, str(path)) for key, raw in table.items()}


def _own_layer(environ: Mapping[str, str]) -> Layer:
    known = {canonical_name(key): key for key in KEYS}
    ours = [n for n in environ if n.startswith("LONGLINE_") and not n.startswith(_TEST_PREFIX)]
    for name in ours:
        if name not in known and name not in _NOT_SETTINGS:
            raise _unknown(name, "environment", known)
    return {known[name]: RawValue(environ[name], name) for name in ours if name in known}


def _contract_layer(environ: Mapping[str, str]) -> tuple[Layer, list[str]]:
    """Return the layer of the contract's variables, and a note for each variable without effect."""
    layer: Layer = {}
    notes: list[str] = []
    for name, ignored in IGNORED_VARIABLES.items():
        if name in environ:
            ignored.kind.take(environ[name], name)
            notes.append(f"{name} has no effect: {ignored.reason}")
    for alias in ALIASES:
        found = {name: environ[name] for name in alias.names if name in environ}
        for name in found.keys() & alias.kinds.keys():
            alias.kinds[name].take(found[name], name)
        built = alias.build(found) if found else {}
        notes += _unused(alias, found, built)
        for key, text in built.items():
            one = RawValue(text, next(iter(found)))
            if key in layer and layer[key].raw != text:
                notes.append(f"{one.origin} is overruled by {layer[key].origin}")
            layer.setdefault(key, one)
    return layer, notes


def _unused(alias: Alias, found: Mapping[str, str], built: Mapping[str, str]) -> list[str]:
    """Return a note for each variable that depends on the first of its row, which is missing or off."""
    chief = alias.names[0]
    return [f"{name} has no effect without {chief}" for name in found if not built and name != chief]


def _read(key: str, given: RawValue) -> Any:
    return KEYS[key].kind.take(given.raw, given.origin, key, secret=KEYS[key].secret)


def _without_effect(given: Layer, settings: Settings) -> list[str]:
    """Return a note for each key that has no effect yet and differs from its default."""
    plain = Settings()
    late = [key for key in given if KEYS[key].later and getattr(settings, key) != getattr(plain, key)]
    return [f"{given[key].origin} sets {key}, which has no effect yet" for key in late]
