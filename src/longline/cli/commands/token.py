"""`longline token`: an access token for the API."""

import time
from typing import Annotated

import typer

from longline.cli.flags import takes
from longline.model.duration import parse_duration
from longline.model.errors import BadInput
from longline.services.callers.tokens import Tokens
from longline.settings import Loaded, jwt_secret
from longline.settings.secret_files import SECRET_NAME

ROLES = ("admin", "moderator", "member", "service")
"""Roles that a token may have. `service` is for programs that call the API."""


@takes("data")
def token(
    loaded: Loaded,
    role: Annotated[str, typer.Option(help=f"Role of the bearer: {', '.join(ROLES)}.", show_default=False)] = "",
    sub: Annotated[str, typer.Option(help="Subject: the name of the bearer.")] = "cli",
    tenant: Annotated[str, typer.Option(help="Tenant of the bearer, at an API with tenants.")] = "",
    ttl: Annotated[str, typer.Option(help="Lifetime of the token.", metavar="DURATION")] = "1h",
) -> None:
    """Print an access token, signed with the secret of the data folder or the settings."""
    if not role:
        raise BadInput(f"name a role with --role: {', '.join(ROLES)}")
    if role not in ROLES:
        raise BadInput(f'--role: there is no role "{role}"; there are {", ".join(ROLES)}')
    seconds, secret = _seconds(ttl), loaded.settings.data / SECRET_NAME
    new = not loaded.settings.jwt_secret and not secret.exists()
    tokens = Tokens(jwt_secret(loaded.settings), lambda: time.time_ns() // 1_000_000)
    typer.echo(tokens.issue(role, sub, seconds, tenant))
    if new:
        typer.echo(f"note: {secret} is new; a server with another data folder or secret refuses this token", err=True)


def _seconds(ttl: str) -> float:
    try:
        seconds = parse_duration(ttl)
    except ValueError:
        seconds = 0
    if seconds < 1:
        raise BadInput(f'--ttl "{ttl}" is not a duration of at least 1s, like 15m or 1h')
    return seconds
