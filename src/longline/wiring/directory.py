"""Where sources are looked up, and the standing runs made for them, from the parts of the house."""

from longline.engine.directory import OwnDirectory, RemoteDirectory
from longline.engine.standing import StandingRules, StandingRuns
from longline.ports.directory import Directory
from longline.services.tokens import Tokens
from longline.settings import jwt_secret
from longline.wiring.house import House

SERVICE_TOKEN_SECONDS = 86_400.0


def directory(house: House) -> Directory:
    """Where sources are looked up: at another service where one is set, else in our own table."""
    url = house.settings.sources_url
    if not url:
        return OwnDirectory(house.records.sources)
    tokens = Tokens(jwt_secret(house.settings), house.clock.now)
    return RemoteDirectory(house.http, url, lambda: tokens.issue("service", "crawler-service", SERVICE_TOKEN_SECONDS))


def standing_runs(house: House) -> StandingRuns:
    """The runs that the URLs of the frontier belong to."""
    s = house.settings
    rules = StandingRules(
        delay_ms=round(s.delay * 1000),
        robots=s.respect_robots,
        attempts=s.frontier_attempts,
        max_redirects=s.frontier_redirects,
        readability=s.readability,
        awake=s.frontier,
    )
    return StandingRuns(house.records.runs, directory(house), rules, house.clock)
