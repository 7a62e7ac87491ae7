"""Claims of tasks, sharing of hosts, and work requests."""

import asyncio

import pytest

from longline.engine.engine_clock import engine_time
from longline.engine.frontier.claims import WorkClaims, WorkerSettings
from longline.engine.frontier.work_requests import WorkRequest
from longline.engine.lifecycle.moves import Lifecycle
from longline.testing.clock import FakeClock
from tests.engine.fakes import OWNER, FakeFrontier, FakeSegments, Journal, claimed, records_of

HOSTS = ("a.example", "b.example", "c.example", "d.example", "e.example")


class Counter:
    """A frontier of some hosts, and the claims of one worker."""

    def __init__(self, clock: FakeClock, tasks: int = 4, **settings: int) -> None:
        journal = Journal()
        self.frontier = FakeFrontier(clock, journal, FakeSegments(journal))
        for number, host in enumerate(HOSTS if tasks else ()):
            self.frontier.add(*(claimed(100 * number + n, host=host) for n in range(1, tasks + 1)), host=host)
        lifecycle = Lifecycle(records_of(self.frontier))
        self.claims = WorkClaims(
            lifecycle, clock, OWNER, WorkerSettings(**{"concurrency": 4, "hosts_per_claim": 5} | settings)
        )
        self.calls = 0
        self.work_request = WorkRequest(self._call, clock)

    async def _call(self) -> None:
        self.calls += 1

    async def claim(self) -> None:
        """Claim more tasks if the hand runs low, and wait for them."""
        came = asyncio.Event()
        self.claims.if_low(came.set, self.work_request)
        if self.claims.under_way is not None:
            await came.wait()

    @property
    def staying(self) -> list[str]:
        return [host.lease.host for host in self.claims.hand if not host.leaving]


async def test_every_second_host_is_shared_and_one_always_stays(clock: FakeClock):
    counter = Counter(clock)
    await counter.claim()
    assert counter.staying == list(HOSTS)
    for left in (["a.example", "c.example", "e.example"], ["a.example", "e.example"], ["a.example"], ["a.example"]):
        counter.claims.share()
        assert counter.staying == left
    assert counter.claims.hand.startable_within(clock.monotonic(), 1.0) == 4, "hosts that leave are not counted"


async def test_a_worker_with_few_tasks_shares_no_host(clock: FakeClock):
    counter = Counter(clock, concurrency=21)
    await counter.claim()
    counter.claims.share()
    assert counter.staying == list(HOSTS)


@pytest.mark.parametrize(("hosts", "patience"), [(5, [0, 1000]), (1, [0, 1000]), (0, [0, 0])])
async def test_a_worker_with_enough_tasks_leaves_new_hosts_to_others(clock: FakeClock, hosts: int, patience: list[int]):
    counter = Counter(clock, tasks=4 if hosts else 0, hosts_per_claim=max(1, hosts), concurrency=4)
    await counter.claim()
    clock.advance(1)
    if hosts == 5:
        next(iter(counter.claims.hand)).waiting.clear()
        for host in list(counter.claims.hand)[2:]:
            host.waiting.clear()
    await counter.claim()
    assert counter.frontier.patience == patience


async def test_a_released_host_is_claimed_again_when_it_is_due(clock: FakeClock):
    counter = Counter(clock, tasks=0)
    number = counter.frontier.add(claimed(1), claimed(2), delay_ms=40)
    await counter.claim()
    (host,) = counter.claims.hand
    start = await host.wait_for_turn(clock)
    assert start is not None
    host.answered(start, clock.monotonic())
    counter.claims.hand.drop(number)
    counter.frontier.take_away(number)
    counter.frontier.lines[number].not_before = engine_time(clock, host.next_start)
    counter.claims.reported([host], more=False)
    await counter.claim()
    assert len(counter.claims.hand) == 0
    wait = counter.claims.next - clock.monotonic()
    assert 0 < wait < 0.5, "earlier than the next regular claim"
    clock.advance(wait + 0.001)
    await counter.claim()
    assert len(counter.claims.hand) == 1


async def test_an_idle_worker_sends_a_work_request(clock: FakeClock):
    counter = Counter(clock, tasks=0)
    await counter.claim()
    assert counter.calls == 1
    counter.frontier.add(claimed(1))
    clock.advance(5)
    await counter.claim()
    assert counter.calls == 1
    assert len(counter.claims.hand) == 1
