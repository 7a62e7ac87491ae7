"""Settings files: `longline.toml`, and the file of the manifest contract below it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from longline.model.errors import BadInput
from longline.settings.aliases import manifests

FILE_NAME = "longline.toml"
CONFIG_NAME = "LONGLINE_CONFIG"


class SettingsFile(NamedTuple):
    """The content of a file, and its path as the origin of its settings."""

    content: Mapping[str, Any]
    origin: str


def settings_files(config: Path | None, environ: Mapping[str, str]) -> list[SettingsFile]:
    """Return the files that exist, the file that wins last; a file that is named must exist."""
    own = config or _named(environ, CONFIG_NAME)
    foreign = _named(environ, manifests.CONFIG_NAME)
    paths = [foreign or _found(manifests.CONFIG_FILE), own or _found(FILE_NAME)]
    return [_read(path) for path in paths if path is not None]


def _named(environ: Mapping[str, str], variable: str) -> Path | None:
    return Path(environ[variable]) if variable in environ else None


def _found(name: str) -> Path | None:
    return Path(name) if Path(name).is_file() else None


def _read(path: Path) -> SettingsFile:
    try:
        return SettingsFile(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
    except OSError as error:
        raise BadInput(f"settings file {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"settings file {path} is not TOML: {error}") from error
