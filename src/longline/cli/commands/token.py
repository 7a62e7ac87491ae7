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
    role: Annotated[str, typer.Option(help="What the bearer may do, for example admin.")],
    sub: Annotated[str, typer.Option(help="Who the bearer is.")] = "cli",
    ttl: Annotated[str, typer.Option(help="How long the token is good for.", metavar="DURATION")] = "1h",
) -> None:
    """Print an access token, signed with the secret that the server of the same data folder uses."""
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
