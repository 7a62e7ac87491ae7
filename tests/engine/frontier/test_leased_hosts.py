import asyncio
from typing import Any

import pytest

from longline.engine.engine_clock import engine_time
from longline.engine.frontier.leased_hosts import FreePlaces, LeasedHost, LeasedHosts, TooSoon
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import claimed, lease

TTL = 30.0


def held(*tasks: Any, asked: float = 0.0, answered: float = 0.0, **facts: Any) -> LeasedHost:
    """Return a host leased at the start of the clock, with an engine's clock that shows the same."""
    facts = {"until": START + 30_000} | facts
    return LeasedHost(lease(*(tasks or (claimed(),)), **facts), TTL, asked, answered)


async def settle(amount: int) -> None:
    """Let so many tasks that wait for each other go on as far as possible."""
    for _ in range(4 * amount):
        await asyncio.sleep(0)


async def turns(host: LeasedHost, clock: FakeClock, amount: int, until: float, step: float = 0.5) -> list[float]:
    """Return the times at which so many simultaneous requests are sent, while the clock moves on."""
    sent: list[float] = []

    async def one() -> None:
        start = await host.wait_for_turn(clock)
        if start is not None:
            sent.append(start)
            host.answered(start, clock.monotonic())

    running = [asyncio.create_task(one()) for _ in range(amount)]
    while clock.monotonic() < until:
        await settle(amount)
        clock.advance(step)
    await settle(amount)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    return sent


async def test_the_delay_is_kept_from_start_to_start(clock: FakeClock):
    host = held(delay_ms=2000)
    assert await turns(host, clock, 3, until=9) == [0, 2, 4]
    # One delay after the last start is enough, however long the last response took and the host was idle.
    assert host.next_start == 6
    assert await turns(host, clock, 2, until=15) == [9, 11]


async def test_an_unanswered_request_delays_the_next_one_further(clock: FakeClock):
    """The server sees a request later than it was sent: only its response proves the arrival."""
    host = held(delay_ms=2000)
    assert await host.wait_for_turn(clock) == 0
    assert host.next_start == 3
    host.answered(0, 0.1)
    assert host.next_start == pytest.approx(2.1)
    # A late response does not show when the request arrived; the bound applies.
    clock.advance(3)
    assert await host.wait_for_turn(clock) == 3
    host.answered(3, 9)
    assert host.next_start == 6


async def test_only_the_response_to_the_last_request_shortens_the_wait(clock: FakeClock):
    host = held(delay_ms=1000, concurrency=2)
    assert await host.wait_for_turn(clock) == 0
    clock.advance(1.25)
    assert await host.wait_for_turn(clock) == 1.25
    host.answered(0, 1.26)
    assert host.next_start == 2.5
    host.answered(1.25, 1.3)
    assert host.next_start == pytest.approx(2.3)


async def test_a_response_shortens_the_wait_of_waiting_requests_too(clock: FakeClock):
    host = held(delay_ms=1000, concurrency=2)
    assert await host.wait_for_turn(clock) == 0
    second = asyncio.create_task(host.wait_for_turn(clock))
    await settle(1)
    assert host.next_start == 1.25
    clock.advance(0.125)
    host.answered(0, 0.125)
    clock.advance(0.875)
    await settle(1)
    assert not second.done(), "the pause is over, but counts from the latest possible arrival of the first request"
    clock.advance(0.125)
    await settle(1)
    assert second.done()
    assert second.result() == 1.125


async def test_the_pause_counts_from_a_repeated_request(clock: FakeClock):
    host = held(delay_ms=1000)
    assert await host.wait_for_turn(clock) == 0
    host.answered(0, 0.1, resent=0.05)
    assert host.next_start == pytest.approx(1.1), "the pause after the response covers a request that was repeated soon"
    clock.advance(2)
    assert await host.wait_for_turn(clock) == 2
    host.answered(2, 9, resent=5.0)
    assert host.next_start == pytest.approx(8)


async def test_a_repeated_request_delays_all_requests_after_it(clock: FakeClock):
    host = held(delay_ms=1000, concurrency=2)
    assert await host.wait_for_turn(clock) == 0
    clock.advance(1.25)
    assert await host.wait_for_turn(clock) == 1.25
    host.answered(0, 3.0, resent=2.5)
    assert host.next_start == pytest.approx(3.5)


async def test_a_response_does_not_undo_a_back_off(clock: FakeClock):
    host = held(delay_ms=1000)
    assert await host.wait_for_turn(clock) == 0
    host.pause(30, 0.1)
    host.answered(0, 0.1)
    assert host.next_start == pytest.approx(30.1)


async def test_requests_without_a_delay_do_not_wait(clock: FakeClock):
    assert await turns(held(), clock, 5, until=0) == [0] * 5


def test_tasks_start_up_to_the_concurrency_of_the_host():
    host = held(claimed(1), claimed(2), claimed(3), concurrency=2)
    host.inflight = 1
    assert host.startable(0)
    host.inflight = 2
    assert not host.startable(0)
    assert host.start_time(0) is None  # only the end of another task changes that
    host.inflight = 1
    assert host.start_time(5) == 5


@pytest.mark.parametrize("ahead", [-7_200_000, 0, 7_200_000])
def test_the_start_time_of_a_host_is_converted_from_the_engines_clock(ahead: int):
    """The end of the lease shows the engine's clock, with any error of the worker's clock."""
    engine_now = START + ahead
    host = held(until=engine_now + 30_000, not_before=engine_now + 4_000, asked=10.0, answered=10.2)
    assert host.next_start == pytest.approx(14.2)  # counted from the response: rather late than early
    assert not host.startable(14.1)
    assert host.startable(14.3)


def test_a_start_time_in_the_past_delays_no_task():
    host = held(not_before=START - 60_000, answered=1.0)
    assert host.next_start == 1.0


def test_the_pause_of_a_host_is_bounded_by_the_longest_retry_after():
    """A clock that was an hour ahead, or a year, has written a time that is too late by as much."""
    assert held(not_before=START + 4_000_000, answered=1.0).next_start == 4001.0
    assert held(not_before=START + 400_000_000_000, answered=1.0).next_start == 4001.0
    slow = held(not_before=START + 400_000_000_000, delay_ms=7_200_000, answered=1.0)
    assert slow.next_start == 18_401.0


@pytest.mark.parametrize("ahead", [-7_200_000, 0, 7_200_000])
def test_times_are_converted_to_the_engines_clock_rather_late_than_early(ahead: int):
    engine_now = START + ahead
    clock = FakeClock(engine_now)
    clock.advance(10)
    # The engine's clock may run faster than the worker's, by one part in two hundred.
    assert engine_time(clock, 12.5) - clock.now() in range(2500, 2515)
    assert engine_time(clock, 9.0) - clock.now() in range(-1000, -990)


async def test_a_start_time_survives_the_conversion_to_the_engines_clock_and_back(clock: FakeClock):
    """The next worker keeps the delay of the worker before."""
    first = held(delay_ms=3000)
    assert await first.wait_for_turn(clock) == 0
    first.answered(0, 0)
    written = engine_time(clock, first.next_start)
    clock.advance(1)
    second = held(not_before=written, until=START + 31_000, asked=1.0, answered=1.0)
    assert 3.0 <= second.next_start < 3.02


async def test_no_request_is_sent_after_the_end_of_the_lease(clock: FakeClock):
    host = held(claimed(1), claimed(2), delay_ms=20_000, asked=0.0)
    assert await host.wait_for_turn(clock) == 0
    host.answered(0, 0)
    late = asyncio.create_task(host.wait_for_turn(clock))
    await asyncio.sleep(0)
    clock.advance(19)
    assert not host.startable(30.0)
    host.expires = 19.5
    clock.advance(1)
    assert await late is None


async def test_a_lease_counts_from_its_request(clock: FakeClock):
    host = held(claimed(), answered=5.0)
    # Not 35: the engine may have read its clock at the request. A little less: its clock may run a little faster.
    assert 29.8 < host.expires < 30.0
    host.renewed(10.0, TTL)
    assert host.startable(39.8)
    assert not host.startable(40.0)
    assert host.start_time(40.0) is None


async def test_a_lost_host_starts_no_task(clock: FakeClock):
    host = held()
    host.lost = True
    assert not host.startable(0)
    assert await host.wait_for_turn(clock) is None


async def test_a_back_off_delays_waiting_requests_too(clock: FakeClock):
    host = held(delay_ms=1000)
    assert await host.wait_for_turn(clock) == 0
    host.answered(0, 0)
    waiting = asyncio.create_task(host.wait_for_turn(clock))  # without the back-off its turn is at 1
    await asyncio.sleep(0)
    host.pause(10, clock.monotonic())
    sent = await turns(host, clock, 1, until=9)
    assert (sent, waiting.done()) == ([], False)
    for _ in range(6):
        clock.advance(1)
        await settle(1)
    assert waiting.done()
    assert await waiting == 10
    assert host.next_start >= 11


def test_a_back_off_never_shortens_a_wait():
    host = held(not_before=START + 20_000)
    host.pause(3, 0.0)
    assert host.next_start == 20


async def test_a_request_does_not_wait_beyond_the_lease(clock: FakeClock):
    host = held(claimed(1), claimed(2))
    host.pause(31, clock.monotonic())
    with pytest.raises(TooSoon):
        await host.wait_for_turn(clock)
    assert host.idle(0), "a host that cannot be used during its lease is idle"
    assert not host.idle(1.5)
    host.inflight = 1
    assert not host.idle(0)


async def test_a_new_delay_counts_from_the_last_request(clock: FakeClock):
    host = held(delay_ms=1000)
    await host.wait_for_turn(clock)
    host.slow_down(5, 0)
    assert host.next_start == 5
    host.slow_down(2, 0)  # the delay is the least: no shorter than before
    assert (host.pace.delay, host.next_start) == (5, 5)


def test_a_new_delay_does_not_delay_the_first_request():
    host = held(not_before=START + 2000)
    host.slow_down(5, 0)
    assert host.next_start == 2


def test_the_delay_bounds_the_tasks_that_can_start_soon():
    tasks = [claimed(n) for n in range(10)]
    assert held(*tasks).startable_within(0, 1) == 10
    assert held(*tasks, delay_ms=500).startable_within(0, 1) == 3
    assert held(*tasks, delay_ms=20_000).startable_within(0, 1) == 1
    assert held(*tasks, not_before=START + 5000).startable_within(0, 1) == 0
    lost = held(*tasks)
    lost.lost = True
    assert lost.startable_within(0, 1) == 0


async def test_tasks_of_a_host_that_has_been_busy_for_long_are_not_counted(clock: FakeClock):
    host = held(*(claimed(n) for n in range(10)), delay_ms=500)
    assert host.startable_within(100, 1) == 3, "not more after an idle time"
    await host.wait_for_turn(clock)
    host.inflight = 1
    assert host.startable_within(0.9, 1) > 0
    assert host.startable_within(1.1, 1) == 0
    host.inflight = 0
    assert host.startable_within(1.1, 1) > 0
    host.heavy_pages = 1
    assert host.startable_within(1.1, 1) == 0


def test_hosts_take_turns():
    hand = LeasedHosts()
    for number in (1, 2, 3):
        hand.add(held(*(claimed(10 * number + n) for n in range(3)), host_id=number))
    order = []
    for _ in range(9):
        found = hand.next_task(0, FreePlaces(9))
        assert found
        order.append(found[1].id // 10)
    assert order == [1, 2, 3] * 3
    assert hand.next_task(0, FreePlaces(9)) is None
    assert (len(hand), hand.waiting) == (3, 0)


def test_a_host_that_must_wait_is_skipped():
    hand = LeasedHosts()
    hand.add(held(claimed(1), host_id=1, not_before=START + 9000))
    hand.add(held(claimed(2), host_id=2, not_before=START + 4000))
    assert hand.next_task(0, FreePlaces(9)) is None
    assert hand.next_time(0, FreePlaces(9)) == 4
    found = hand.next_task(4, FreePlaces(9))
    assert found
    assert found[1].id == 2
    assert hand.next_time(4, FreePlaces(9)) == 9


@pytest.mark.parametrize(("places", "most"), [(1, 1), (2, 1), (4, 3), (64, 57)])
def test_no_host_uses_every_place(places: int, most: int):
    hand = LeasedHosts()
    hand.add(held(*(claimed(n) for n in range(100)), concurrency=100))
    taken = 0
    while found := hand.next_task(0, FreePlaces(places - taken)):
        found[0].inflight += 1
        taken += 1
    assert taken == most
    assert hand.next_time(0, FreePlaces(places - taken)) is None, "only the end of another task changes that"
    hand.add(held(claimed(1000), host_id=2))
    assert (hand.next_task(0, FreePlaces(places - taken)) is not None) == (places > 1)


def test_several_silent_hosts_leave_places_for_others():
    hand, taken = LeasedHosts(), 0
    for number in range(4):
        hand.add(held(*(claimed(n) for n in range(100)), concurrency=100, host_id=number))
    while found := hand.next_task(0, FreePlaces(64 - taken)):
        found[0].inflight += 1
        taken += 1
    assert taken < 64
    assert max(host.inflight for host in hand) - min(host.inflight for host in hand) <= 1


def test_an_empty_hand_has_no_next_time():
    assert LeasedHosts().next_time(0, FreePlaces(9)) is None
    assert LeasedHosts().startable_within(0, 1) == 0


def test_a_host_that_is_claimed_again_loses_its_old_lease():
    hand = LeasedHosts()
    old, new = held(claimed(1), token=1), held(claimed(2), token=3)
    hand.add(old)
    hand.add(new)
    assert (old.lost, new.lost) == (True, False)
    assert (hand.holds(old), hand.holds(new)) == (False, True)
    assert list(hand) == [new]


def test_waiting_tasks_of_a_lost_host_do_not_count():
    hand = LeasedHosts()
    first, second = held(claimed(1), claimed(2), host_id=1), held(claimed(3), host_id=2)
    hand.add(first)
    hand.add(second)
    first.lost = True
    assert hand.waiting == 1
    hand.drop(2)
    hand.drop(2)
    assert len(hand) == 1


def test_further_tasks_of_a_host_wait_by_priority():
    """A worker gets more tasks during the first ones: an urgent one must not wait for all of those."""
    hand = LeasedHosts()
    hand.add(held(claimed(1, priority=300), claimed(2, priority=500), concurrency=9))
    first = hand.next_task(0, FreePlaces(9))
    assert hand.help(lease(*(claimed(n, priority=p) for n, p in ((3, 100), (4, 500), (5, 1000), (6, 500)))))
    assert first is not None
    [host] = hand
    host.tasks.put_back(claimed(7, priority=500))
    host.tasks.put_back(first[1])
    assert [task.id for task in host.waiting] == [3, 1, 7, 2, 4, 6, 5]


async def test_a_pause_may_be_longer_once(clock: FakeClock):
    host = held(delay_ms=2000)
    assert await host.wait_for_turn(clock, 0.75) == 0
    assert host.next_start == 3.75
    host.answered(0, 0.1)
    assert host.next_start == pytest.approx(2.85)
    clock.advance(3)
    assert await host.wait_for_turn(clock) == 3
    host.answered(3, 3)
    assert host.next_start == 5, "the extra pause applies once"
