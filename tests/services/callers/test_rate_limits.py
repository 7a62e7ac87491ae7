"""Rate limits of callers, over several processes."""

import asyncio
from collections.abc import Sequence

import pytest

from longline.model.callers.caller import AccessRule
from longline.model.callers.rate_limit import FORGET_INTERVAL_MS, RateLimit
from longline.model.callers.roles import ADMINS
from longline.model.token_bucket import TokenBucket
from longline.ports.records import Records
from longline.ports.records.callers import Spending
from longline.services.callers.callers import CallerCredentials, Callers
from longline.services.callers.rate_limits import RateLimits, TooOften
from longline.services.callers.tokens import Tokens
from longline.testing.clock import FakeClock


class CountedStore:
    """The store of the records, with a count of its writes."""

    def __init__(self, records: Records) -> None:
        self._store, self.writes, self.forgotten = records.rate_limits, 0, 0

    async def spend(self, spendings: Sequence[Spending]) -> dict[str, TokenBucket]:
        self.writes += 1
        return await self._store.spend(spendings)

    async def forget(self, age_ms: int) -> None:
        self.forgotten += 1
        await self._store.forget(age_ms)


async def granted(limits: RateLimits, times: int, name: str = "ann", per_minute: int = 60) -> int:
    """Return the number of granted requests among so many, sent one after the other."""
    found = 0
    for _ in range(times):
        try:
            await limits.check(name, per_minute)
            found += 1
        except TooOften:
            pass
    return found


async def test_a_limit_is_exact_and_costs_few_writes(records: Records, clock: FakeClock):
    store = CountedStore(records)
    limits = RateLimits(store, clock)
    assert await granted(limits, 600, per_minute=600) == 600
    assert store.writes <= 600 // 30 + 1
    with pytest.raises(TooOften) as refused:
        await limits.check("ann", 600)
    assert refused.value.seconds == 1
    assert str(refused.value) == "Rate limit exceeded, try again in 1 seconds"
    assert await granted(limits, 1, "bob") == 1, "callers have limits of their own"
    clock.advance(1)
    assert await granted(limits, 600, per_minute=600) == 10


async def test_two_processes_grant_no_more_than_one_limit(records: Records, clock: FakeClock):
    one, other = RateLimits(records.rate_limits, clock), RateLimits(records.rate_limits, clock)

    async def ask(limits: RateLimits) -> int:
        return await granted(limits, 1, per_minute=100)

    found = sum(await asyncio.gather(*(ask(limits) for _ in range(100) for limits in (one, other))))
    assert 95 <= found <= 100


async def test_prefetched_requests_are_not_saved_up(records: Records, clock: FakeClock):
    limits = RateLimits(records.rate_limits, clock)
    assert await granted(limits, 1) == 1
    clock.advance(60)
    assert await granted(limits, 100) == 60


async def test_old_buckets_are_deleted_at_an_interval(records: Records, clock: FakeClock):
    store = CountedStore(records)
    limits = RateLimits(store, clock)
    await granted(limits, 5)
    assert store.forgotten == 0
    clock.advance(FORGET_INTERVAL_MS / 1000)
    await granted(limits, 5)
    assert store.forgotten == 1


async def test_the_limit_of_a_door_or_of_the_settings_holds_for_callers_without_one(records: Records, clock: FakeClock):
    tokens = Tokens("s" * 64, lambda: 0)
    given = CallerCredentials(tokens.issue("admin", "ann", 60))
    for callers, rule in (
        (Callers(tokens, None, RateLimits(records.rate_limits, clock)), AccessRule("a", ADMINS, per_minute=2)),
        (Callers(tokens, None, RateLimits(records.rate_limits, clock), per_minute=2), AccessRule("b", ADMINS)),
    ):
        for _ in range(2):
            await callers.admit(given, rule)
        with pytest.raises(TooOften):
            await callers.admit(given, rule)


HOURLY = RateLimit(1000, 3600)
ALL, WRITES = RateLimit(10), RateLimit(2, name="writes")


async def test_the_state_of_a_limit_is_exact(records: Records, clock: FakeClock):
    store = CountedStore(records)
    limits = RateLimits(store, clock)
    states = [await limits.charge("ann", [HOURLY]) for _ in range(1001)]
    assert [state.remaining for state in states] == [*range(999, -1, -1), 0]
    assert {state.limit for state in states} == {1000}
    assert [state.wait_ms for state in states if state.wait_ms] == [3600], "the next request of 1,000 in an hour"
    assert states[0].reset_at == clock.wall() + 3600
    assert states[999].reset_at == clock.wall() + 3_600_000
    assert store.writes <= 100


async def test_prefetched_requests_that_were_not_made_are_returned(records: Records, clock: FakeClock):
    limits = RateLimits(records.rate_limits, clock)
    for _ in range(50):
        state = await limits.charge("ann", [RateLimit(300)])
        clock.advance(3.1)
    assert state.remaining >= 298, "one request in three seconds is far below the limit"


async def test_the_tightest_of_several_limits_decides_and_a_refusal_costs_the_others_nothing(
    records: Records, clock: FakeClock
):
    limits = RateLimits(records.rate_limits, clock)
    first = await limits.charge("ann", [ALL, WRITES])
    assert (first.limit, first.remaining) == (2, 1)
    assert (await limits.charge("ann", [ALL])).remaining == 8
    await limits.charge("ann", [ALL, WRITES])
    for _ in range(20):
        refused = await limits.charge("ann", [ALL, WRITES])
        assert (refused.limit, refused.remaining, refused.wait_ms) == (2, 0, 30_000)
    assert (await limits.charge("ann", [ALL])).remaining == 6
