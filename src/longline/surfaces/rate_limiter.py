"""The rate limits that an API declares: counted for each request, and shown in the headers of each response."""

from typing import Literal

from longline.model.callers.caller import Caller
from longline.model.callers.rate_limit import RateLimitPolicy, RateLimitState
from longline.model.timestamps import written
from longline.services.callers.callers import Callers

ResetFormat = Literal["unix", "iso"]
"""The time of a reset as seconds since 1970, or as text by RFC 3339."""

HEADERS = {
    "X-RateLimit-Limit": "Requests that the tightest limit of the caller allows in its period.",
    "X-RateLimit-Remaining": "Requests that are left.",
    "X-RateLimit-Reset": "The time at which all requests are there again.",
}
"""The headers of every response, with their descriptions."""


class RateLimiter:
    """The policy of rate limits of one API."""

    def __init__(self, callers: Callers, door: str, policy: RateLimitPolicy, reset_format: ResetFormat) -> None:
        self._callers, self._door, self._policy, self._reset_format = callers, door, policy, reset_format

    async def charge(self, caller: Caller | None, address: str, method: str) -> RateLimitState | None:
        """Count a request by its caller, or by its address if it has none; return the state of its limits."""
        return await self._callers.charge(self._policy, self._door, caller, address=address, method=method)

    def headers(self, state: RateLimitState) -> dict[str, str]:
        """Return the headers of a response."""
        seconds = -(-state.reset_at // 1000)
        reset = str(seconds) if self._reset_format == "unix" else written(seconds * 1000)
        return dict(zip(HEADERS, (str(state.limit), str(state.remaining), reset), strict=True))
