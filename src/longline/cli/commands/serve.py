"""`longline up`, `api` and `worker`: API and workers, together or alone."""

import logging
from typing import Annotated

import typer

from longline import __version__
from longline.cli import log_setup as logs
from longline.cli.event_loop import run
from longline.cli.flags import ENGINES, takes
from longline.cli.hints.command_lines import command
from longline.model.errors import BadInput
from longline.model.frontier.worker import ROLES
from longline.services.callers.console_sessions import OneTimeLogin
from longline.settings import Loaded
from longline.wiring.serve import serve

_WORK = ("concurrency", "user_agent", "delay", "egress_allow")
_LOGS = ("log_level", "log_format")

_log = logging.getLogger(__name__)


@takes("host", "port", *ENGINES, "workers", *_WORK, "parsers", *_LOGS)
def up(loaded: Loaded) -> None:
    """Run the whole platform: API, upkeep and workers."""
    _serve(loaded, api=True, roles=frozenset(ROLES))


@takes("host", "port", *ENGINES, "parsers", *_LOGS)
def api(loaded: Loaded) -> None:
    """Run the API alone."""
    serve_api(loaded)


@takes(*ENGINES, "workers", *_WORK, "parsers", *_LOGS)
def worker(
    loaded: Loaded,
    roles: Annotated[str, typer.Option(help="Roles of this worker: fetch, parse, upkeep.", metavar="ROLES")] = ",".join(
        ROLES
    ),
    leashed: Annotated[bool, typer.Option("--leashed", hidden=True, help="Stop when standard input ends.")] = False,
) -> None:
    """Run a worker alone."""
    named = parse_roles(roles)
    if loaded.origins["workers"] == "--workers" and loaded.settings.workers > 1 and "fetch" not in named:
        raise BadInput("--workers needs the role fetch; parse_processes sets the processes of a worker that parses")
    _serve(loaded, api=False, roles=named, leashed=leashed)


def serve_api(loaded: Loaded) -> None:
    """Run the API alone, with settings that were loaded."""
    _serve(loaded, api=True, roles=frozenset())


def parse_roles(text: str) -> frozenset[str]:
    """Return the roles of a comma-separated list; an unknown word raises `BadInput` with the roles that there are."""
    named = [word.strip() for word in text.split(",") if word.strip()]
    for word in named:
        if word not in ROLES:
            known = ", ".join(ROLES)
            raise BadInput(f'--roles: there is no role "{word}"; there are {known}')
    if not named:
        raise BadInput(f"--roles: name at least one of {', '.join(ROLES)}")
    return frozenset(named)


def _serve(loaded: Loaded, *, api: bool, roles: frozenset[str], leashed: bool = False) -> None:
    settings = loaded.settings
    logs.set_up(settings.log_level, settings.log_format, None, settings.log_outputs)
    for note in loaded.notes:
        _log.warning(note)
    # Only a person on this machine can follow the link; elsewhere the console asks for a token.
    link = OneTimeLogin() if api and settings.loopback else None

    def ready(address: str) -> None:
        announce(loaded, address, link)

    run(serve(settings, api=api, roles=roles, ready=ready, leashed=leashed, link=link))


def announce(loaded: Loaded, address: str, link: OneTimeLogin | None = None) -> None:
    """Print the address of the server, and the command that makes a token, which works in any folder.

    On loopback, a link follows that logs in at the console, once.
    """
    token = command("token", "--role", "admin", "--data", str(loaded.settings.data))
    typer.echo(f"longline {__version__} listens on {address} (Ctrl-C stops it)")
    typer.echo(f"a token for it: {token}")
    if link is not None:
        typer.echo(f"the console, logged in once: {address}/console/enter?secret={link.secret}")
