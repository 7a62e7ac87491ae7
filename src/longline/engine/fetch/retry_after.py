"""Retry-After: pauses that responses request for their host."""

from datetime import UTC
from email.utils import parsedate_to_datetime

from longline.engine.frontier.leased_hosts import LeasedHost
from longline.model.frontier.host import MAX_RETRY_AFTER_SECONDS
from longline.ports.clock import Clock
from longline.ports.http import Response

TOO_MANY_REQUESTS = 429
THROTTLING_STATUSES = frozenset({TOO_MANY_REQUESTS, 503})
"""Statuses that pause a host, also without a Retry-After."""


def pause_host(host: LeasedHost, response: Response, clock: Clock, chance: float) -> float | None:
    """Pause a host for the Retry-After of its response; return the seconds, or None without a pause.

    A 429 or 503 without a Retry-After pauses the host for longer each time in a row; `chance` is from 0 to 1.
    """
    after = retry_after_seconds(response, clock.now())
    if after is None and response.status in THROTTLING_STATUSES:
        after = host.pace.throttled(chance)
    if after is not None:
        host.pause(after, clock.monotonic())
    return after


def retry_after_seconds(response: Response, now: int) -> float | None:
    """Return the seconds that a Retry-After states in either of its forms, or None for any other text.

    A date is compared with the Date of the response: both come from the clock of the server.
    """
    text = (response.header("retry-after") or "").strip()
    if text.isdecimal():
        return min(float(text), MAX_RETRY_AFTER_SECONDS)
    moment = _http_date(text)
    if moment is None:
        return None
    answered = _http_date(response.header("date") or "")
    return min(max(0.0, moment - (now / 1000 if answered is None else answered)), MAX_RETRY_AFTER_SECONDS)


def _http_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        # A date without a zone is UTC, not in the zone of this machine.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
