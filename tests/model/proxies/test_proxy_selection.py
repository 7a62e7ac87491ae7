"""The choice of proxies."""

from collections.abc import Callable

import msgspec
import pytest

from longline.model.duration import HOUR_MS
from longline.model.errors import BadInput
from longline.model.proxies.proxy import (
    SKIP_AFTER_FAILURES,
    ProxyRequest,
)
from longline.model.proxies.proxy_health import (
    FAILED_PROXY_REST_MS,
    ProxyCandidate,
)
from longline.model.proxies.proxy_selection import SLOT_MS, choose, choose_several, first_slot

NOW = 1_700_000_000_000


def first(_: int) -> int:
    return 0


def candidate(id: int, **facts: object) -> ProxyCandidate:
    known = {"active": True, "failure_count": 0, "turn": 0, "priority": 5, "room": 1000, "mapped": True} | facts
    return ProxyCandidate(id=id, **known)  # type: ignore[arg-type]


def chosen(*pool: ProxyCandidate, draw: Callable[[int], int] = first, **asked: object) -> int | None:
    found = choose(pool, ProxyRequest(**asked), NOW, draw)  # type: ignore[arg-type]
    return found.id if found else None


def test_the_least_recently_used_proxy_is_chosen_and_a_never_used_one_before_it():
    assert chosen(candidate(1, turn=3), candidate(2, turn=1), candidate(3, turn=2)) == 2
    assert chosen(candidate(1, turn=3), candidate(2, turn=1), candidate(3)) == 3


def test_priority_breaks_a_tie_and_does_not_outrank_recency():
    assert chosen(candidate(1, priority=5), candidate(2, priority=1), candidate(3, priority=1)) == 2
    assert chosen(candidate(1, priority=9, turn=1), candidate(2, priority=1, turn=2)) == 1


def test_without_a_source_speed_breaks_the_tie_and_the_unknown_come_last():
    fast, slow = candidate(3, mapped=False, avg_ms=80), candidate(2, mapped=False, avg_ms=900)
    unknown = candidate(1, mapped=False, priority=1)
    assert choose_several([unknown, slow, fast], ProxyRequest(wanted=3), NOW, first) == [3, 2, 1]
    assert chosen(msgspec.structs.replace(fast, mapped=True), candidate(2, priority=4, avg_ms=900)) == 2


@pytest.mark.parametrize(
    "fault", [{"active": False}, {"failure_count": SKIP_AFTER_FAILURES}, {"room": 0}, {"room": -3}]
)
def test_a_proxy_that_is_disabled_failing_or_over_its_limit_is_not_chosen(fault: dict[str, object]):
    assert chosen(candidate(1, **fault), candidate(2, turn=99)) == 2
    assert chosen(candidate(1, **fault)) is None


def test_a_proxy_one_failure_below_the_limit_is_chosen():
    assert chosen(candidate(1, failure_count=SKIP_AFTER_FAILURES - 1, room=1)) == 1


def test_excluded_proxies_and_those_of_other_countries_are_not_chosen():
    pool = [candidate(1, country="DE"), candidate(2, country="FR"), candidate(3)]
    assert chosen(*pool, exclude=frozenset({1})) == 2
    assert chosen(*pool, country="FR") == 2
    assert chosen(*pool, country="US") is None
    assert chosen(*pool, exclude=frozenset({1, 2, 3})) is None


def test_five_proxies_rotate_and_begin_again():
    pool = [candidate(i) for i in range(1, 6)]
    assert choose_several(pool, ProxyRequest(wanted=11), NOW, first) == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1]


def test_a_proxy_is_not_chosen_beyond_its_hourly_limit():
    pool = [candidate(1, room=1), candidate(2, room=2), candidate(3, room=0)]
    assert choose_several(pool, ProxyRequest(wanted=9), NOW, first) == [1, 2, 2]
    assert choose_several([], ProxyRequest(wanted=9), NOW, first) == []


def test_a_request_for_no_proxy_is_refused():
    with pytest.raises(BadInput, match="at least one"):
        ProxyRequest(wanted=0)


def test_random3_draws_among_the_three_that_waited_longest():
    pool = [candidate(i, turn=10 - i) for i in range(1, 6)]
    drawn = [chosen(*pool, strategy="random3", draw=draw) for draw in (first, lambda n: n // 2, lambda n: n - 1)]
    assert drawn == [5, 4, 3]
    assert chosen(candidate(1), strategy="random3", draw=lambda n: n - 1) == 1


def test_geo_changes_provider_or_country_and_otherwise_goes_by_turn():
    here = {"provider": "a", "country": "DE"}
    last, same = candidate(1, turn=9, **here), candidate(2, turn=1, **here)
    assert chosen(last, same, candidate(3, turn=2, provider="a", country="FR"), strategy="geo") == 3
    assert chosen(last, same, candidate(3, turn=2, provider="b", country="DE"), strategy="geo") == 3
    assert chosen(last, same, strategy="geo") == 2
    assert chosen(candidate(1, **here), candidate(2, **here), strategy="geo") == 1
    off = candidate(4, turn=99, active=False, provider="b", country="DE")
    assert chosen(off, candidate(3, turn=1, provider="b", country="DE"), last, strategy="geo") == 1


def test_the_healthiest_proxy_is_chosen_and_among_equals_the_least_recently_used():
    assert chosen(candidate(1), candidate(2, turn=5, avg_ms=100), strategy="health") == 2
    assert chosen(candidate(1, turn=2), candidate(2, turn=1), strategy="health") == 2


def test_the_slots_of_an_hour_cover_all_of_it():
    for now in (NOW, NOW + 1, NOW // SLOT_MS * SLOT_MS, NOW // SLOT_MS * SLOT_MS - 1):
        assert first_slot(now) * SLOT_MS <= now - HOUR_MS < (first_slot(now) + 1) * SLOT_MS


def test_a_failing_proxy_of_a_pool_gets_one_request_after_its_rest():
    def failing(**facts: object) -> ProxyCandidate:
        return candidate(1, failure_count=SKIP_AFTER_FAILURES, revivable=True, **facts)

    rested, resting = (
        failing(last_used_at=NOW - FAILED_PROXY_REST_MS),
        failing(last_used_at=NOW - FAILED_PROXY_REST_MS + 1),
    )
    assert chosen(resting) is None
    assert chosen(rested) == chosen(msgspec.structs.replace(rested, active=False)) == 1
    assert chosen(msgspec.structs.replace(rested, revivable=False)) is None
    assert choose_several([rested], ProxyRequest(wanted=9), NOW, first) == [1]
