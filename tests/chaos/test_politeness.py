"""Politeness over processes that die, in a size for every day; the large form is a program of its own."""

from tests.chaos.politeness import SMALL, WAITING, Group, Trouble, Verdict, Visit, judge, storm, storm_on


async def test_hosts_are_left_alone_as_they_asked_and_nothing_is_lost():
    verdict = await storm(SMALL, workers=3, trouble=Trouble(kill_every=0.7), most_seconds=120)
    assert verdict.kills >= 1
    assert_polite(verdict, SMALL)


async def test_wall_clocks_that_jump_change_nothing(database_url: str):
    verdict = await storm_on(database_url, WAITING, workers=3, trouble=Trouble(jump_every=0.5), most_seconds=120)
    assert verdict.jumps >= 5
    assert_polite(verdict, WAITING)
    assert verdict.refetched == 0


def assert_polite(verdict: Verdict, groups: tuple[Group, ...]) -> None:
    """Assert that no request was too early, too many or missing, and no host was delayed: all was done in time."""
    assert verdict.proved_too_soon == [], verdict.lag_ms
    assert verdict.too_many == []
    assert verdict.impatient == []
    assert verdict.missing == 0
    wanted = sum(group.hosts * group.pages for group in groups)
    rows = verdict.rows
    assert rows["counts"] == {"open": 0, "completed": wanted, "failed": 0, "cancelled": 0, "skipped": 0}
    assert rows["pages"] == rows["urls"] == rows["records"] == wanted
    assert (rows["queue"], rows["held"]) == (0, 0)
    assert set(rows["exits"]) == {0}  # type: ignore[call-overload]  # a list of exit codes


def test_the_judge_reports_requests_that_are_too_soon_and_allows_for_lag():
    group = (Group(1, 2, 100, 1),)
    fine = [("127.0.1.1", "/p0", 0.0, 0.01, 0), ("127.0.1.1", "/p1", 0.1, 0.11, 0)]
    assert judged(group, fine) == Verdict(requests=2, smallest_slack_ms=0.0)
    hasty = judged(group, [fine[0], ("127.0.1.1", "/p1", 0.0999, 0.11, 0)])
    assert [host for host, *_ in hasty.too_soon] == ["127.0.1.1"]
    assert hasty.proved_too_soon == hasty.too_soon
    hasty.lag_ms = 1.0
    assert hasty.proved_too_soon == []
    held_up = judged(group, [fine[0], ("127.0.1.1", "/p1", 0.18, 0.19, 0), ("127.0.1.1", "/p2", 0.2, 0.21, 0)])
    assert [round(gap) for _, gap, _, _ in held_up.too_soon] == [20]
    assert held_up.proved_too_soon == held_up.too_soon, "the machine was never late"
    held_up.lag_ms = 135.0
    assert held_up.proved_too_soon == [], "the second was 80 ms late, and the third in time"
    early = judged(group, [fine[0], fine[1], ("127.0.1.1", "/p2", 0.12, 0.13, 0)])
    early.lag_ms = 135.0
    assert early.proved_too_soon == early.too_soon, "the second was in time, so the third was too early"
    crowded = judged(group, [("127.0.1.1", "/p0", 0.0, 0.2, 0), fine[1]])
    assert crowded.too_many == [("127.0.1.1", 2, 1)]
    hurried = judged(
        (Group(1, 1, 0, 1, 2),), [("127.0.1.1", "/wait2/p0", 0.0, 0.1, 2), ("127.0.1.1", "/wait2/p0", 2.0, 2.1, 0)]
    )
    assert [(wait, round(waited, 3)) for _, waited, wait in hurried.impatient] == [(2, 1.9)]
    assert judged(group, fine[:1]).missing == 1
    assert judged(group, [*fine, ("127.0.1.1", "/p1", 0.3, 0.31, 0)]).refetched == 1


def judged(groups: tuple[Group, ...], visits: list[Visit]) -> Verdict:
    verdict = Verdict()
    judge(verdict, visits, groups)
    return verdict
