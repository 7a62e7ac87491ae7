from longline.model.callers.caller import Caller
from longline.model.callers.rate_limit import CHANGING_METHODS, RateLimit, RateLimitPolicy
from longline.model.callers.roles import Role

ALL, WRITES, BY_ADDRESS = RateLimit(300), RateLimit(60, name="writes", methods=CHANGING_METHODS), RateLimit(30)
POLICY = RateLimitPolicy((ALL, WRITES), (BY_ADDRESS,))


def caller(per_minute: int | None = None) -> Caller:
    return Caller("ann", "ann", Role.ADMIN, "key", per_minute=per_minute)


def test_a_limit_applies_to_all_methods_or_to_the_named_ones():
    assert POLICY.limits_of(caller(), "GET") == [ALL]
    assert POLICY.limits_of(caller(), "PATCH") == [ALL, WRITES]


def test_requests_without_credentials_are_limited_by_their_address():
    assert POLICY.limits_of(None, "POST") == [BY_ADDRESS]
    assert POLICY.limits_of(Caller("", "anonymous", Role.NONE, "anonymous"), "GET") == [BY_ADDRESS]
    assert RateLimitPolicy((ALL,)).limits_of(None, "GET") == [ALL], "the limit of callers is the default"


def test_the_limit_of_a_key_replaces_the_general_one():
    assert POLICY.limits_of(caller(per_minute=9), "GET") == [RateLimit(9)]
    assert POLICY.limits_of(caller(per_minute=9), "POST") == [RateLimit(9), WRITES]
