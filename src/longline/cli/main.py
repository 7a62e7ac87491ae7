"""The `longline` program: its commands and its error handling."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.exceptions import TyperException

from longline.model.errors import LonglineError
from longline.settings.layers import DEBUG_NAME

_INTERRUPTED = 130


COMMANDS = {
    "up": "serve:up",
    "crawl": "crawl:crawl",
    "demo": "demo:demo",
    "search": "search:search",
    "page": "page:page",
    "export": "export:export",
    "reparse": "reparse:reparse",
    "token": "token:token",
    "api": "serve:api",
    "worker": "serve:worker",
    "migrate": "migrate:migrate",
    "doctor": "doctor:doctor",
    "settings": "settings:settings",
    "version": "version:version",
}
"""Commands, each with its module and function."""

GROUPS = {
    "sources": "sources:build",
    "candidates": "candidates:build",
    "proxies": "proxies:build",
    "bots": "bots:build",
    "policies": "policies:build",
}
"""Command groups, each with the function that builds the group."""

HIDDEN = {"create_jobs_from_policies": "policies:create_jobs", "expire_locks": "bots:expire_locks"}
"""Names of the bot-pull contract for its two maintenance commands."""


def build(only: str | None = None) -> typer.Typer:
    """Return the program with all commands, or with `only` one: the modules of the others are not imported."""
    app = typer.Typer(
        name="longline",
        help="One crawl engine that speaks five contracts.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_program)
    for name, place in COMMANDS.items():
        if only in (None, name):
            app.command(name)(_function(place))
    for name, place in GROUPS.items():
        if only in (None, name):
            app.add_typer(_function(place)(), name=name)
    for name, place in HIDDEN.items():
        if only in (None, name):
            app.command(name, hidden=True)(_function(place))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        _function(COMMANDS["version"])()
        raise typer.Exit


def _program(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """One crawl engine that speaks five contracts."""


def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"longline.cli.commands.{module}"), name)
    return found


def main() -> None:
    """Run the command line. An expected failure is one line on stderr and an exit code, never a traceback."""
    try:
        words = sys.argv[1:] or ["--help"]
        known = words[0] in {**COMMANDS, **GROUPS, **HIDDEN}
        code = build(words[0] if known else None)(words, prog_name="longline", standalone_mode=False)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except typer.Abort:
        code = 1
    except Exception as error:
        if os.environ.get(DEBUG_NAME) == "1":
            raise
        code = _print_error(error)
    sys.exit(code if isinstance(code, int) else 0)


def _print_error(error: Exception) -> int:
    known = _expected_failure(error)
    if known is None:
        raise error
    text = known.format_message() if isinstance(known, TyperException) else str(known)
    line = Text.assemble(("error:", "bold red"), " ", " ".join(text.split()))
    Console(stderr=True).print(line, soft_wrap=True, highlight=False)
    return getattr(known, "exit_code", 1)


def _expected_failure(error: BaseException) -> LonglineError | TyperException | OSError | None:
    """Return the first expected failure, also out of an exception group, or None."""
    if isinstance(error, LonglineError | TyperException | OSError):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((found for one in inner if (found := _expected_failure(one))), None)
