"""Politeness over processes that die, in a size for every day; the large form is a program of its own."""

from tests.chaos.politeness import SMALL, Group, Verdict, judge, storm

WANTED = sum(group.hosts * group.pages for group in SMALL)


async def test_hosts_are_left_alone_as_they_asked_and_nothing_is_lost():
    verdict = await storm(SMALL, workers=3, kill_every=2.0, most_seconds=120)
    assert verdict.kills >= 1
    assert verdict.too_soon == []
    assert verdict.too_many == []
    assert verdict.missing == 0
    rows = verdict.rows
    assert rows["counts"] == {"open": 0, "completed": WANTED, "failed": 0, "cancelled": 0, "skipped": 0}
    assert rows["pages"] == rows["urls"] == rows["records"] == WANTED
    assert (rows["queue"], rows["held"]) == (0, 0)
    assert set(rows["exits"]) == {0}  # type: ignore[call-overload]  # a list of exit codes


def test_the_judge_sees_what_it_should():
    group = (Group(1, 2, 100, 1),)
    fine = [("127.0.1.1", "/p0", 0.0, 0.01), ("127.0.1.1", "/p1", 0.1, 0.11)]
    assert judged(group, fine) == Verdict(requests=2, smallest_slack_ms=0.0)
    hasty = judged(group, [fine[0], ("127.0.1.1", "/p1", 0.0999, 0.11)])
    assert [host for host, _, _ in hasty.too_soon] == ["127.0.1.1"]
    crowded = judged(group, [("127.0.1.1", "/p0", 0.0, 0.2), fine[1]])
    assert crowded.too_many == [("127.0.1.1", 2, 1)]
    assert judged(group, fine[:1]).missing == 1
    assert judged(group, [*fine, ("127.0.1.1", "/p1", 0.3, 0.31)]).refetched == 1


def judged(groups: tuple[Group, ...], visits: list[tuple[str, str, float, float]]) -> Verdict:
    verdict = Verdict()
    judge(verdict, visits, groups)
    return verdict
