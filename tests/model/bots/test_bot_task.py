"""The permission of a bot to submit a result, and the effect of results and lapsed leases on its task."""

from typing import Any

import pytest

from longline.model.bots.bot_task import Holding, after_answer, after_lapse, lapsed, refusal, url_key

HELD = Holding(
    id=1,
    url="https://a.example/",
    created_at=5,
    state="pending",
    reason=None,
    run_id=1,
    host_id=1,
    priority=500,
    rested_attempt=0,
    owner=-7,
    token=3,
    due=100,
    attempt=1,
    holder="me",
    schedule_id=None,
    max_retries=3,
    retries=0,
    lapses=0,
    held_ms=100,
)


def held(**changes: Any) -> Holding:
    return Holding(**{name: getattr(HELD, name) for name in Holding.__struct_fields__} | changes)


@pytest.mark.parametrize(
    ("holding", "created_at", "bot", "now", "why"),
    [
        (HELD, 5, "me", 100, None),
        (None, 5, "me", 100, "missing"),
        (HELD, 6, "me", 100, "missing"),
        (held(owner=None, due=0, holder=None), 5, "me", 100, "not_held"),
        (HELD, 5, "you", 101, "not_yours"),
        (HELD, 5, "me", 101, "lapsed"),
    ],
)
def test_only_the_holder_may_answer(holding: Holding | None, created_at: int, bot: str, now: int, why: str | None):
    assert refusal(holding, created_at, bot, now) == why


def test_a_lease_lapses_after_its_end_and_not_at_it():
    assert [lapsed(100, now) for now in (99, 100, 101)] == [False, False, True]


def test_three_retries_are_four_attempts():
    assert [after_answer(held(retries=n), found=False) for n in range(5)] == ["pending"] * 3 + ["failed"] * 2
    assert after_answer(held(retries=9), found=True) == "completed"


def test_a_lapsed_lease_counts_as_a_retry_only_if_requested():
    assert [after_lapse(held(retries=n), retry=True) for n in (0, 2, 3)] == ["pending", "pending", "failed"]
    assert [after_lapse(held(lapses=n), retry=False) for n in (0, 3, 4)] == ["expired", "expired", "failed"]


def test_a_held_task_is_shown_as_crawled():
    assert HELD.shown == "crawling"
    assert held(owner=None, state="expired").shown == "expired"


def test_urls_have_keys_of_their_own():
    assert url_key("https://a.example/") != url_key("https://a.example/b")
