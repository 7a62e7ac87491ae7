"""The `longline` program: its commands and its error handling."""

import ast
import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from rich.text import Text
from typer.exceptions import TyperException

from longline.cli.command_table import COMMANDS, GROUPS, HIDDEN, LISTING_GROUPS, SECTIONS
from longline.cli.exit_codes import INTERRUPTED, PIPE_CLOSED
from longline.cli.listing import OutputConsole
from longline.cli.usage_errors import usage_text
from longline.model.errors import LonglineError
from longline.settings.layers import DEBUG_NAME

_FOLDER = Path(__file__).parent / "commands"


class SectionedGroup(typer.core.TyperGroup):
    """A program whose help lists the commands by subject."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a list for each section; the summaries of all sections begin in one column."""
        shown = {name for name in self.list_commands(ctx) if not self.commands[name].hidden}
        widest = max(map(len, shown), default=0)
        for heading, names in SECTIONS.items():
            rows = [
                (name.ljust(widest), self.commands[name].get_short_help_str(formatter.width))
                for name in names
                if name in shown
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def build(only: str | None = None, *, hidden: bool = True) -> typer.Typer:
    """Return the program with all commands, or with `only` one: the modules of the others are not imported.

    Without `hidden` the names of the contract are left out, as in the reference.
    """
    app = _empty_program()
    for name, place in COMMANDS.items():
        if only in (None, name):
            function = _function(place)
            app.command(name, short_help=first_sentence(function.__doc__ or ""))(function)
    for name, place in GROUPS.items():
        if only in (None, name):
            group = _with_summaries(_function(place)())
            app.add_typer(group, name=name, short_help=first_sentence(str(group.info.help)))
    for name, place in HIDDEN.items() if hidden else ():
        if only in (None, name):
            app.command(name, hidden=True)(_function(place))
    return app


def build_overview() -> typer.Typer:
    """Return the program with the names and summaries of all commands, without importing their modules."""
    app = _empty_program()
    for name, place in {**COMMANDS, **GROUPS}.items():
        app.command(name, short_help=first_sentence(_summary(place)))(_no_command)
    return app


def _with_summaries(group: typer.Typer) -> typer.Typer:
    """Return the group with a whole sentence about each command, which a list wraps; a help text alone is cut off."""
    for command in group.registered_commands:
        command.short_help = first_sentence(command.help or getattr(command.callback, "__doc__", None) or "")
    return group


def first_sentence(text: str) -> str:
    """Return the first sentence of a help text, on one line."""
    return re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]


def _empty_program() -> typer.Typer:
    app = typer.Typer(
        name="longline",
        cls=SectionedGroup,
        help="One crawl engine behind several HTTP contracts.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    return app


def _no_command() -> None:
    """Do nothing: a command of the overview is listed, never run."""


def _summary(place: str) -> str:
    """Return the help of a command or a group from the source of its module."""
    module, _, name = place.partition(":")
    tree = ast.parse((_FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    helps = (
        k.value for node in ast.walk(function) if isinstance(node, ast.Call) for k in node.keywords if k.arg == "help"
    )
    text = next(helps, None) if place in GROUPS.values() else None
    return ast.literal_eval(text) if text else ast.get_docstring(function) or ""


def _print_version(wanted: bool) -> None:
    if wanted:
        _function(COMMANDS["version"])()
        raise typer.Exit


def _program(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """One crawl engine behind several HTTP contracts."""


def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"longline.cli.commands.{module}"), name)
    return found


def main() -> None:
    """Run the command line."""
    end_with(_run)


def _run() -> Any:
    words = _words(sys.argv[1:])
    known = words[0] in {**COMMANDS, **GROUPS, **HIDDEN}
    program = build(words[0]) if known else build_overview()
    return program(words, prog_name="longline", standalone_mode=False)


def end_with(program: Callable[[], Any]) -> None:
    """Run a program and end the process; an expected failure is one line on stderr and an exit code, no traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that is not UTF-8 shows other characters as question marks; they are no reason to fail.
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")
    try:
        code = _exit_code(program)
    except BrokenPipeError:  # the reader of standard error may have gone too
        code = PIPE_CLOSED
    sys.exit(_flushed(code))


def _exit_code(program: Callable[[], Any]) -> int:
    try:
        code = program()
    except KeyboardInterrupt:
        return INTERRUPTED
    except typer.Abort:
        return 1
    except SystemExit as end:
        # Typer ends a command with code 1 when the reader of standard output has gone.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        return PIPE_CLOSED
    except Exception as error:
        if isinstance(_expected_failure(error), BrokenPipeError):
            return PIPE_CLOSED
        if os.environ.get(DEBUG_NAME) == "1":
            raise
        return _print_error(error)
    return code if isinstance(code, int) else 0


def _flushed(code: int) -> int:
    """Write out both streams, and return the exit code: another one if the reader of standard output has gone."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            code = PIPE_CLOSED
        if code == PIPE_CLOSED:
            # The interpreter flushes once more when it ends, and would end with 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def _words(given: list[str]) -> list[str]:
    """Return the words of the command line; the program or a group alone shows its help, unless the group lists."""
    is_group = len(given) == 1 and given[0] in GROUPS and given[0] not in LISTING_GROUPS
    return [*given, "--help"] if not given or is_group else given


def _print_error(error: Exception) -> int:
    known = _expected_failure(error)
    if known is None:
        raise error
    text = usage_text(known) if isinstance(known, TyperException) else _sentence(known)
    line = Text.assemble(("error:", "bold red"), " ", " ".join(text.split()))
    OutputConsole(stderr=True).print(line, soft_wrap=True, highlight=False)
    return getattr(known, "exit_code", 1)


def _sentence(error: LonglineError | OSError) -> str:
    """Return the text of a failure; that of the system comes without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


def _expected_failure(error: BaseException) -> LonglineError | TyperException | OSError | None:
    """Return the first expected failure, also out of an exception group, or None."""
    if isinstance(error, LonglineError | TyperException | OSError):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((found for one in inner if (found := _expected_failure(one))), None)
