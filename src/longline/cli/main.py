"""The program: every command, and one way to fail."""

import os
import sys

import typer
from rich.console import Console
from rich.text import Text
from typer.exceptions import TyperException

from longline.cli import (
    bots,
    crawl,
    demo,
    doctor,
    export,
    migrate,
    page,
    policies,
    proxies,
    search,
    serve,
    settings,
    token,
    version,
)
from longline.model.errors import LonglineError
from longline.settings.layers import DEBUG_NAME

_INTERRUPTED = 130


def build() -> typer.Typer:
    """The program with all its commands."""
    app = typer.Typer(
        name="longline",
        help="One crawl engine that speaks five contracts.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    commands = (
        *(serve.up, crawl.crawl, demo.demo, search.search, page.page, export.export),
        *(token.token, serve.api, serve.worker),
        *(migrate.migrate, doctor.doctor, settings.settings, version.version),
    )
    for command in commands:
        app.command()(command)
    for name, group in (("proxies", proxies.build()), ("bots", bots.build()), ("policies", policies.build())):
        app.add_typer(group, name=name)
    # The names by which the bot-pull contract calls its two chores.
    app.command("create_jobs_from_policies", hidden=True)(policies.create_jobs)
    app.command("expire_locks", hidden=True)(bots.expire_locks)
    return app


def main() -> None:
    """Run what was typed. A failure that we understand is one line on stderr and a code, never a stack."""
    try:
        code = build()(sys.argv[1:] or ["--help"], prog_name="longline", standalone_mode=False)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except typer.Abort:
        code = 1
    except Exception as error:
        if os.environ.get(DEBUG_NAME) == "1":
            raise
        code = _explain(error)
    sys.exit(code if isinstance(code, int) else 0)


def _explain(error: Exception) -> int:
    known = _understood(error)
    if known is None:
        raise error
    text = known.format_message() if isinstance(known, TyperException) else str(known)
    line = Text.assemble(("error:", "bold red"), " ", " ".join(text.split()))
    Console(stderr=True).print(line, soft_wrap=True, highlight=False)
    return getattr(known, "exit_code", 1)


def _understood(error: BaseException) -> LonglineError | TyperException | OSError | None:
    """The failure that can be told in one line, also when several tasks failed together."""
    if isinstance(error, LonglineError | TyperException | OSError):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((found for one in inner if (found := _understood(one))), None)
