"""`longline token`: an access token for the API."""

import time
from typing import Annotated

import typer

from longline.cli.flags import takes
from longline.model.duration import parse_duration
from longline.model.errors import BadInput
from longline.services.tokens import Tokens
from longline.settings import Loaded, jwt_secret


@takes("data")
def token(
    loaded: Loaded,
    role: Annotated[str, typer.Option(help="Role of the bearer, for example admin.")],
    sub: Annotated[str, typer.Option(help="Subject: the name of the bearer.")] = "cli",
    ttl: Annotated[str, typer.Option(help="Lifetime of the token.", metavar="DURATION")] = "1h",
) -> None:
    """Print an access token, signed with the secret of the data folder or the settings."""
    tokens = Tokens(jwt_secret(loaded.settings), lambda: time.time_ns() // 1_000_000)
    typer.echo(tokens.issue(role, sub, _seconds(ttl)))


def _seconds(ttl: str) -> float:
    try:
        seconds = parse_duration(ttl)
    except ValueError:
        seconds = 0
    if seconds < 1:
        raise BadInput(f'--ttl "{ttl}" is not a duration of at least 1s, like 15m or 1h')
    return seconds
