"""Rate limits of the catalogue contract."""

from longline.model.callers.rate_limit import CHANGING_METHODS, RateLimit, RateLimitPolicy

LIMITS = RateLimitPolicy(
    callers=(RateLimit(300), RateLimit(60, name="changes", methods=CHANGING_METHODS)),
    addresses=(RateLimit(60),),
)
"""Requests in a minute: of each user, of these the changes, and of each address without a valid token."""
