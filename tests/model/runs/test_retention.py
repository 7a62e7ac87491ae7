"""Ages at which runs are deleted, by kind, and reasons against a deletion."""

import pytest
from msgspec.structs import replace

from longline.model.runs.retention import RetentionAges, RunUses
from longline.model.runs.run import RunKind

AGES = RetentionAges(
    crawls_ms=1, scheduled_ms=2, service_ms=3, standing_ms=4, bots_ms=5, events_ms=6, visits_ms=7, max_scheduled=8
)
UNUSED = RunUses(False, "completed", None, False, False, False, False)


def test_every_kind_has_its_age_or_is_kept():
    ages = {(kind, scheduled): age_ms for kind, scheduled, age_ms in AGES.of_runs()}
    kept = {kind for kind in RunKind if (kind, False) not in ages}
    assert kept == {kind for kind in RunKind if kind.standing} | {RunKind.REPAIR, RunKind.MANIFEST}
    assert (ages[RunKind.CRAWL, False], ages[RunKind.CRAWL, True], ages[RunKind.FEED_POLL, False]) == (1, 2, 3)


def test_an_age_of_zero_keeps_runs_for_ever():
    ages = replace(AGES, crawls_ms=0, scheduled_ms=0)
    assert {kind for kind, _, _ in ages.of_runs()} == {
        RunKind.FEED_POLL,
        RunKind.FEED_SEARCH,
        RunKind.SITEMAP,
        RunKind.CANDIDATE_PROBE,
    }


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"standing": True}, "standing run"),
        ({"state": "queued"}, "it is queued; stop it first"),
        ({"in_schedule": True}, "its schedule"),
        ({"unread": True}, "has not been read"),
        ({"in_effect": True}, "has not been read"),
        ({"undelivered": True}, "a sink"),
    ],
)
def test_a_run_in_use_is_refused(change: dict[str, object], reason: str):
    assert UNUSED.refusal() is None
    assert reason in (replace(UNUSED, **change).refusal() or "")


def test_force_gives_up_items_that_no_sink_has():
    assert replace(UNUSED, undelivered=True).refusal(forced=True) is None
    assert replace(UNUSED, standing=True, undelivered=True).refusal(forced=True) is not None
