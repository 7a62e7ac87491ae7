"""Layers of settings: files, then the environment, then flags; the later layer wins."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from longline.model.errors import BadInput
from longline.settings.aliases import ALIASES, IGNORED_VARIABLES, canonical_name, environment_names, manifests
from longline.settings.aliases.alias import Alias
from longline.settings.cross_checks import check_consistency, security_warnings
from longline.settings.files import CONFIG_NAME, SettingsFile, settings_files
from longline.settings.keys import KEYS, Settings
from longline.settings.tables.loader import TABLE_NAMES, TABLES_NAME, LoadedTables, load_tables
from longline.settings.values import RawValue, unknown_setting

DEBUG_NAME = "LONGLINE_DEBUG"
_NOT_SETTINGS = frozenset({CONFIG_NAME, DEBUG_NAME, TABLES_NAME})
_TABLE_PREFIX = "LONGLINE__"
_OTHER_PREFIXES = ("LONGLINE_TEST_", _TABLE_PREFIX)


class Loaded(msgspec.Struct, frozen=True):
    """Settings, the origin of each (`default` if not set), warnings, and the texts of the tables' keys by full name."""

    settings: Settings
    origins: dict[str, str]
    notes: tuple[str, ...] = ()
    table_texts: dict[str, str] = {}


Layer = dict[str, RawValue]


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    config: Path | None = None,
) -> Loaded:
    """Read every layer. `flags` maps keys to typed values (None if not typed), `config` names the file."""
    environ = _non_empty(os.environ if environ is None else environ)
    files = settings_files(config, environ)
    loaded = _tables(files, environ)
    tables = manifests.settings_of_tables(loaded.tables, loaded.origins)
    aliased, notes = _contract_layer(environ)
    typed = {key: RawValue(raw, flag_name(key)) for key, raw in (flags or {}).items() if raw is not None}
    given = {**tables, **_file_layer(files), **aliased, **_own_layer(environ), **typed}
    settings = Settings(tables=loaded.tables, **{key: _read(key, one) for key, one in given.items()})
    origins = {key: given[key].origin if key in given else "default" for key in KEYS}
    check_consistency(settings, origins)
    notes += [*loaded.notes, *_without_effect(given, settings), *security_warnings(settings, origins)]
    return Loaded(settings, origins | loaded.origins, tuple(notes), loaded.texts)


def flag_name(key: str) -> str:
    """Return the flag of a key on the command line."""
    return "--" + key.replace("_", "-")


def _non_empty(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are not empty: shells and compose files set a missing variable to an empty text.

    An empty JWT secret is an error, because a generated secret would replace it unnoticed.
    """
    for name in environment_names("jwt_secret"):
        if environ.get(name) == "":
            raise BadInput(f"{name} is empty; set a secret, or unset the variable to have one generated")
    return {name: value for name, value in environ.items() if value}


def _file_layer(files: Iterable[SettingsFile]) -> Layer:
    layer: Layer = {}
    for content, origin in files:
        for key in content.keys() - TABLE_NAMES:
            if key not in KEYS:
                raise unknown_setting(key, origin, [*KEYS, *TABLE_NAMES])
            layer[key] = RawValue(content[key], origin)
    return layer


def _tables(files: Iterable[SettingsFile], environ: Mapping[str, str]) -> LoadedTables:
    tables = [({key: file.content[key] for key in file.content.keys() & TABLE_NAMES}, file.origin) for file in files]
    return load_tables(tables, environ, (manifests.PREFIX, _TABLE_PREFIX))


def _own_layer(environ: Mapping[str, str]) -> Layer:
    known = {canonical_name(key): key for key in KEYS}
    ours = [n for n in environ if n.startswith("LONGLINE_") and not n.startswith(_OTHER_PREFIXES)]
    for name in ours:
        if name not in known and name not in _NOT_SETTINGS:
            raise unknown_setting(name, "environment", known)
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
