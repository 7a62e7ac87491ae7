"""Drivers whose libraries come with an extra of the package."""

from importlib import import_module
from typing import Any

from longline.model.errors import BadInput

EXTRAS = {
    "asyncpg": "postgres",
    "obstore": "s3",
    "redis": "redis",
    "trafilatura": "article",
    "mcp": "mcp",
}
"""Libraries, each with the extra that installs it."""


def load_driver(module: str) -> Any:
    """Return the module of a driver, or raise `BadInput` with the command that installs its library."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        command = f"pip install 'longline[{EXTRAS[library]}]'"
        raise BadInput(f"the package {library} is not installed; run: {command}") from error
