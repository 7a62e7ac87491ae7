"""Tasks that are withdrawn from a worker by people, or because their run has stopped."""

import asyncio
from collections.abc import Sequence

import pytest

from longline.engine.fetch.request_sender import RequestContext
from longline.engine.frontier.leased_hosts import LeasedHost, TaskWithdrawn
from longline.engine.frontier.withdrawn_tasks import WithdrawnTaskFilter
from longline.model.frontier.task import ClaimedTask
from longline.testing.clock import FakeClock
from tests.engine.fakes import HURRY, OWNER, FakeHttp, claimed, lease, part, sender_of
from tests.engine.worker.test_worker import Shop, url


class Moves:
    """Withdrawals as in the database: counts by host and token, and the withdrawn tasks."""

    def __init__(self) -> None:
        self.counts: dict[tuple[int, int], int] = {}
        self.gone: set[int] = set()
        self.looks = 0

    def withdraw(self, *task_ids: int, host: tuple[int, int] = (1, 1)) -> None:
        self.counts[host] = self.counts.get(host, 0) + 1
        self.gone.update(task_ids)

    async def withdrawals(self, owner: int) -> dict[tuple[int, int], int]:
        assert owner == OWNER
        return dict(self.counts)

    async def marked(self, claims: Sequence[tuple[int, int, ClaimedTask]]) -> set[tuple[int, int]]:
        self.looks += bool(claims)
        return {task.mark for _, _, task in claims if task.id not in self.gone}


def waiting(shop: Shop) -> list[int]:
    return [task.id for host in shop.worker.hand for task in host.waiting]


def filter_of(shop: Shop, moves: Moves) -> WithdrawnTaskFilter:
    return WithdrawnTaskFilter(shop.worker.hand, part(moves), OWNER)


async def test_no_further_task_is_begun_for_a_run_that_has_ended(clock: FakeClock):
    shop, moves = Shop(clock), Moves()
    shop.frontier.add(*(claimed(n) for n in range(1, 21)))
    withdrawn = filter_of(shop, moves)
    first = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
        await withdrawn.once()
        assert waiting(shop) == list(range(2, 21)), "the run goes on"
        moves.withdraw(*range(2, 21))
        await withdrawn.once()
        assert waiting(shop) == []
        first.set()
        await shop.until(lambda: shop.frontier.reports)
    [report] = shop.frontier.reports[0].reports
    assert [outcome.task.url for outcome in report.outcomes] == [url(1)], "only the task under way is reported"


async def test_a_task_in_flight_that_is_withdrawn_is_not_reported(clock: FakeClock):
    shop, moves = Shop(clock), Moves()
    shop.frontier.add(*(claimed(n) for n in range(1, 4)))
    first = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
        moves.withdraw(1, 2)
        for number in (1, 2):
            del shop.frontier.lines[1].tasks[number], shop.frontier.lines[1].marked[number]
        await filter_of(shop, moves).once()
        first.set()
        await shop.until(lambda: shop.frontier.reports)
    assert shop.http.urls == [url(1), url(3)]
    assert list(shop.frontier.ended) == [3]
    assert not [entry for entry in shop.journal if entry[0] == "refuse"], "no report was refused for the withdrawn task"


async def test_the_queue_is_read_only_after_a_count_has_changed(clock: FakeClock):
    shop, moves = Shop(clock), Moves()
    shop.frontier.add(*(claimed(n) for n in range(1, 5)))
    withdrawn = filter_of(shop, moves)
    first = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
        await withdrawn.once()
        assert moves.looks == 0
        moves.withdraw(3)
        await withdrawn.once()
        await withdrawn.once()
        assert moves.looks == 1
        assert waiting(shop) == [2, 4]
        moves.withdraw(4, host=(1, 99))
        await withdrawn.once()
        assert (moves.looks, waiting(shop)) == (1, [2, 4]), "the count of another lease does not matter"
        first.set()


async def test_a_host_with_more_tasks_on_their_way_is_checked_again(clock: FakeClock):
    shop, moves = Shop(clock), Moves()
    host = LeasedHost(lease(claimed(1), claimed(2)), 30.0, 0.0, 0.0)
    shop.worker.hand.add(host)
    withdrawn, host.asking = filter_of(shop, moves), True
    moves.withdraw(1, 3)
    await withdrawn.once()
    assert waiting(shop) == [2]
    shop.worker.hand.help(lease(claimed(3), claimed(4)))
    host.asking = False
    await withdrawn.once()
    assert waiting(shop) == [2, 4], "the task arrived with a claim that was answered late"
    await withdrawn.once()
    assert moves.looks == 2


async def test_a_withdrawn_task_that_is_claimed_again_has_another_mark(clock: FakeClock):
    shop, moves = Shop(clock), Moves()
    host = LeasedHost(lease(claimed(1), claimed(2)), 30.0, 0.0, 0.0)
    shop.worker.hand.add(host)
    moves.withdraw(1)
    await filter_of(shop, moves).once()
    shop.worker.hand.help(lease(claimed(1, due=clock.now())))
    assert [task.mark for task in host.waiting] == [(2, 0), (1, clock.now())]


async def test_a_task_that_is_claimed_again_supersedes_its_earlier_attempts(clock: FakeClock):
    """The new attempt may be more urgent than the earlier one; the earlier request must not follow."""
    shop = Shop(clock)
    begun, waiting_before, other = claimed(1), claimed(2, priority=900), claimed(3)
    host = LeasedHost(lease(waiting_before, other), 30.0, 0.0, 0.0)
    shop.worker.hand.add(host)
    host.tasks.begin(begun)
    again = claimed(1, due=clock.now()), claimed(2, due=clock.now(), priority=100)
    shop.worker.hand.help(lease(*again))
    assert [task.mark for task in host.waiting] == [again[1].mark, other.mark, again[0].mark]
    with pytest.raises(TaskWithdrawn):
        await host.wait_for_turn(clock, mark=begun.mark)
    assert await host.wait_for_turn(clock, mark=again[0].mark) is not None


async def test_a_waiting_request_of_a_withdrawn_task_is_not_sent(clock: FakeClock):
    http, task = FakeHttp(clock), claimed(1)
    host = LeasedHost(lease(task, delay_ms=800, concurrency=8), 30.0, 0.0, 0.0)
    context = RequestContext(1, HURRY, mark=task.mark)
    sender = sender_of(http, clock)
    await sender.send(host, url(2), RequestContext(1, HURRY, mark=(2, 0)))
    later = asyncio.create_task(sender.send(host, url(1), context))
    await asyncio.sleep(0.01)
    host.tasks.withdraw({task.mark})
    clock.advance(2)
    with pytest.raises(TaskWithdrawn):
        await later
    await sender.send(host, url(3), RequestContext(1, HURRY, mark=(3, 0)))
    assert http.urls == [url(2), url(3)], "the next request gets the turn"


class Holds:
    """Runs that are held."""

    def __init__(self) -> None:
        self.runs: frozenset[int] = frozenset()

    async def held_runs(self) -> frozenset[int]:
        return self.runs


async def test_a_hold_returns_waiting_tasks_and_lets_the_page_under_way_end(clock: FakeClock):
    shop, holds = Shop(clock), Holds()
    tasks = [claimed(n) for n in range(1, 6)]
    shop.frontier.add(*tasks)
    looking = WithdrawnTaskFilter(shop.worker.hand, part(Moves()), OWNER, part(holds))
    first = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
        await looking.once()
        assert len(waiting(shop)) == 4, "no run is held"
        holds.runs = frozenset({tasks[0].run_id})
        await looking.once()
        assert (waiting(shop), len(shop.http.sent)) == ([], 1)
        await shop.until(lambda: shop.frontier.reports)
        [report] = shop.frontier.reports[0].reports
        assert ({task.id for task in report.unstarted}, report.outcomes, report.release) == ({2, 3, 4, 5}, (), False)
        first.set()
        await shop.until(lambda: 1 in shop.frontier.ended)
    assert shop.frontier.ended[1] == "ok"
