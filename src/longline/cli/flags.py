"""Flags made from settings, with the names, types and help of the settings."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from longline.settings import KEYS, Loaded, load

T = TypeVar("T")

ENGINES = ("data", "database", "objects", "redis")
"""Keys of the data folder and the engines: flags of commands that open all engines."""

_CONFIG = inspect.Parameter(
    "config",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None, typer.Option(help="Settings file; if not given, longline.toml of the working folder.")
    ],
)


def takes(*keys: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Add a flag for each of these settings to a command, and pass the loaded settings as its first argument."""
    flags = {key: _flag(key) for key in keys}

    def wrap(command: Callable[..., T]) -> Callable[..., T]:
        own = list(inspect.signature(command).parameters.values())[1:]

        @functools.wraps(command)
        def called(*, config: Path | None = None, **given: Any) -> T:
            loaded: Loaded = load({key: given.pop(key) for key in flags}, config=config)
            return command(loaded, **given)

        parameters = [*own, *flags.values(), _CONFIG]
        called.__annotations__ = {p.name: p.annotation for p in parameters}
        vars(called)["__signature__"] = inspect.Signature(
            [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        )
        return called

    return wrap


def _flag(key: str) -> inspect.Parameter:
    # Flags arrive as text and are read by the same kinds as files and variables: one error line for all three.
    option = typer.Option(help=KEYS[key].doc, metavar=KEYS[key].kind.word, show_default=False)
    return inspect.Parameter(
        key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option]
    )
