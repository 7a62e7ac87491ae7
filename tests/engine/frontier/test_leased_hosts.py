import asyncio
from typing import Any

import pytest

from longline.engine.engine_clock import engine_time
from longline.engine.frontier.leased_hosts import FreePlaces, LeasedHost, LeasedHosts, TooSoon
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import claimed, lease

TTL = 30.0


def held(*tasks: Any, asked: float = 0.0, answered: float = 0.0, **facts: Any) -> LeasedHost:
    """A host leased at the start of the clock, whose engine's clock says the same."""
    facts = {"until": START + 30_000} | facts
    return LeasedHost(lease(*(tasks or (claimed(),)), **facts), TTL, asked, answered)


async def settle(amount: int) -> None:
    """Let so many who wait for each other go on as far as they can."""
    for _ in range(4 * amount):
        await asyncio.sleep(0)


async def turns(host: LeasedHost, clock: FakeClock, amount: int, until: float, step: float = 0.5) -> list[float]:
    """When so many requests that want to go at once are sent, while the clock moves on."""
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
    # However long the last answer took, and however long nobody asked: one delay after the last start is enough.
    assert host.next_start == 6
    assert await turns(host, clock, 2, until=15) == [9, 11]


async def test_a_request_on_its_way_keeps_the_next_one_further_off(clock: FakeClock):
    """The server sees a request later than it was sent: only its answer says that it has."""
    host = held(delay_ms=2000)
    assert await host.wait_for_turn(clock) == 0
    assert host.next_start == 3
    host.answered(0, 0.1)
    assert host.next_start == pytest.approx(2.1)
    # An answer that took long says nothing about when the request arrived; the bound says enough.
    clock.advance(3)
    assert await host.wait_for_turn(clock) == 3
    host.answered(3, 9)
    assert host.next_start == 6


async def test_only_the_answer_to_the_last_request_shortens_the_wait(clock: FakeClock):
    host = held(delay_ms=1000, concurrency=2)
    assert await host.wait_for_turn(clock) == 0
    clock.advance(1.25)
    assert await host.wait_for_turn(clock) == 1.25
    host.answered(0, 1.26)
    assert host.next_start == 2.5
    host.answered(1.25, 1.3)
    assert host.next_start == pytest.approx(2.3)


async def test_an_answer_shortens_the_wait_also_of_who_waits_already(clock: FakeClock):
    host = held(delay_ms=1000, concurrency=2)
    assert await host.wait_for_turn(clock) == 0
    second = asyncio.create_task(host.wait_for_turn(clock))
    await settle(1)
    assert host.next_start == 1.25
    clock.advance(0.125)
    host.answered(0, 0.125)
    clock.advance(0.875)
    await settle(1)
    assert not second.done(), "the pause is over, but it counts from when the server had surely seen the first one"
    clock.advance(0.125)
    await settle(1)
    assert second.done()
    assert second.result() == 1.125


async def test_a_request_that_was_sent_again_counts_from_then(clock: FakeClock):
    host = held(delay_ms=1000)
    assert await host.wait_for_turn(clock) == 0
    host.answered(0, 0.1, resent=0.05)
    assert host.next_start == pytest.approx(1.1), "the pause after the answer covers a request that was sent again soon"
    clock.advance(2)
    assert await host.wait_for_turn(clock) == 2
    host.answered(2, 9, resent=5.0)
    assert host.next_start == pytest.approx(8)


async def test_a_request_that_was_sent_again_keeps_those_apart_that_follow(clock: FakeClock):
    host = held(delay_ms=1000, concurrency=2)
    assert await host.wait_for_turn(clock) == 0
    clock.advance(1.25)
    assert await host.wait_for_turn(clock) == 1.25
    host.answered(0, 3.0, resent=2.5)
    assert host.next_start == pytest.approx(3.5)


async def test_an_answer_does_not_undo_a_back_off(clock: FakeClock):
    host = held(delay_ms=1000)
    assert await host.wait_for_turn(clock) == 0
    host.pause(30, 0.1)
    host.answered(0, 0.1)
    assert host.next_start == pytest.approx(30.1)


async def test_without_a_delay_nobody_waits(clock: FakeClock):
    assert await turns(held(), clock, 5, until=0) == [0] * 5


def test_tasks_start_up_to_the_hosts_concurrency():
    host = held(claimed(1), claimed(2), claimed(3), concurrency=2)
    host.inflight = 1
    assert host.startable(0)
    host.inflight = 2
    assert not host.startable(0)
    assert host.start_time(0) is None  # only the end of another can change that
    host.inflight = 1
    assert host.start_time(5) == 5


@pytest.mark.parametrize("ahead", [-7_200_000, 0, 7_200_000])
def test_a_time_to_be_left_alone_comes_in_by_the_engines_clock(ahead: int):
    """The engine says when its lease ends, so we know its clock, however wrong ours is."""
    engine_now = START + ahead
    host = held(until=engine_now + 30_000, not_before=engine_now + 4_000, asked=10.0, answered=10.2)
    assert host.next_start == pytest.approx(14.2)  # counted from the answer: rather late than early
    assert not host.startable(14.1)
    assert host.startable(14.3)


def test_a_time_that_has_passed_holds_nobody_up():
    host = held(not_before=START - 60_000, answered=1.0)
    assert host.next_start == 1.0


def test_no_host_is_left_alone_longer_than_one_can_ask_for():
    """A server's clock that was an hour ahead, or a year, has written a time that is too late by as much."""
    assert held(not_before=START + 4_000_000, answered=1.0).next_start == 4001.0
    assert held(not_before=START + 400_000_000_000, answered=1.0).next_start == 4001.0
    slow = held(not_before=START + 400_000_000_000, delay_ms=7_200_000, answered=1.0)
    assert slow.next_start == 18_401.0


@pytest.mark.parametrize("ahead", [-7_200_000, 0, 7_200_000])
def test_moments_go_out_by_the_engines_clock_rather_late_than_early(ahead: int):
    engine_now = START + ahead
    clock = FakeClock(engine_now)
    clock.advance(10)
    # The engine's time may run faster than ours, by one part in two hundred.
    assert engine_time(clock, 12.5) - clock.now() in range(2500, 2515)
    assert engine_time(clock, 9.0) - clock.now() in range(-1000, -990)


async def test_what_goes_out_comes_back_in(clock: FakeClock):
    """The politeness of one worker is that of the next."""
    first = held(delay_ms=3000)
    assert await first.wait_for_turn(clock) == 0
    first.answered(0, 0)
    written = engine_time(clock, first.next_start)
    clock.advance(1)
    second = held(not_before=written, until=START + 31_000, asked=1.0, answered=1.0)
    assert 3.0 <= second.next_start < 3.02


async def test_nothing_is_sent_once_the_lease_has_run_out(clock: FakeClock):
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


async def test_a_renewal_counts_from_when_it_was_asked_for(clock: FakeClock):
    host = held(claimed(), answered=5.0)
    # Not 35: the engine may have read its clock as soon as we asked. A little less: it may run a little faster.
    assert 29.8 < host.expires < 30.0
    host.renewed(10.0, TTL)
    assert host.startable(39.8)
    assert not host.startable(40.0)
    assert host.start_time(40.0) is None


async def test_a_lost_host_starts_and_sends_nothing(clock: FakeClock):
    host = held()
    host.lost = True
    assert not host.startable(0)
    assert await host.wait_for_turn(clock) is None


async def test_backing_off_holds_up_also_those_whose_turn_was_coming(clock: FakeClock):
    host = held(delay_ms=1000)
    assert await host.wait_for_turn(clock) == 0
    host.answered(0, 0)
    waiting = asyncio.create_task(host.wait_for_turn(clock))  # would go at 1
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


def test_backing_off_never_shortens_a_wait():
    host = held(not_before=START + 20_000)
    host.pause(3, 0.0)
    assert host.next_start == 20


async def test_a_wait_beyond_the_lease_is_not_waited_out(clock: FakeClock):
    host = held(claimed(1), claimed(2))
    host.pause(31, clock.monotonic())
    with pytest.raises(TooSoon):
        await host.wait_for_turn(clock)
    assert host.idle(0), "a host that cannot be used while its lease lasts is one to let go"
    assert not host.idle(1.5)
    host.inflight = 1
    assert not host.idle(0)


async def test_slowing_down_counts_from_the_last_request(clock: FakeClock):
    host = held(delay_ms=1000)
    await host.wait_for_turn(clock)
    host.slow_down(5, 0)
    assert host.next_start == 5
    host.slow_down(2, 0)  # what is asked for is the least: no faster than before
    assert (host.pace.delay, host.next_start) == (5, 5)


def test_slowing_down_before_the_first_request_delays_none():
    host = held(not_before=START + 2000)
    host.slow_down(5, 0)
    assert host.next_start == 2


def test_tasks_that_can_start_soon_are_those_the_delay_leaves_time_for():
    tasks = [claimed(n) for n in range(10)]
    assert held(*tasks).startable_within(0, 1) == 10
    assert held(*tasks, delay_ms=500).startable_within(0, 1) == 3
    assert held(*tasks, delay_ms=20_000).startable_within(0, 1) == 1
    assert held(*tasks, not_before=START + 5000).startable_within(0, 1) == 0
    lost = held(*tasks)
    lost.lost = True
    assert lost.startable_within(0, 1) == 0


async def test_tasks_of_a_host_that_has_been_busy_for_long_cannot_be_counted_on(clock: FakeClock):
    host = held(*(claimed(n) for n in range(10)), delay_ms=500)
    assert host.startable_within(100, 1) == 3, "not more because nothing was started for long"
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


def test_a_host_that_must_wait_is_passed_over():
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
def test_no_host_takes_every_place(places: int, most: int):
    hand = LeasedHosts()
    hand.add(held(*(claimed(n) for n in range(100)), concurrency=100))
    taken = 0
    while found := hand.next_task(0, FreePlaces(places - taken)):
        found[0].inflight += 1
        taken += 1
    assert taken == most
    assert hand.next_time(0, FreePlaces(places - taken)) is None, "only the end of another can change that"
    hand.add(held(claimed(1000), host_id=2))
    assert (hand.next_task(0, FreePlaces(places - taken)) is not None) == (places > 1)


def test_hosts_that_are_silent_together_leave_room_for_others():
    hand, taken = LeasedHosts(), 0
    for number in range(4):
        hand.add(held(*(claimed(n) for n in range(100)), concurrency=100, host_id=number))
    while found := hand.next_task(0, FreePlaces(64 - taken)):
        found[0].inflight += 1
        taken += 1
    assert taken < 64
    assert max(host.inflight for host in hand) - min(host.inflight for host in hand) <= 1


def test_an_empty_hand_waits_for_nothing():
    assert LeasedHosts().next_time(0, FreePlaces(9)) is None
    assert LeasedHosts().startable_within(0, 1) == 0


def test_a_host_that_comes_again_makes_its_old_lease_a_lost_one():
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


def test_more_tasks_of_a_host_wait_by_priority():
    """A worker is given more tasks while it works on the first ones: an urgent one must not wait for all of those."""
    hand = LeasedHosts()
    hand.add(held(claimed(1, priority=300), claimed(2, priority=500), concurrency=9))
    first = hand.next_task(0, FreePlaces(9))
    assert hand.help(lease(*(claimed(n, priority=p) for n, p in ((3, 100), (4, 500), (5, 1000), (6, 500)))))
    assert first is not None
    [host] = hand
    host.tasks.put_back(claimed(7, priority=500))
    host.tasks.put_back(first[1])
    assert [task.id for task in host.waiting] == [3, 1, 7, 2, 4, 6, 5]


async def test_a_pause_may_be_longer_than_usual(clock: FakeClock):
    host = held(delay_ms=2000)
    assert await host.wait_for_turn(clock, 0.75) == 0
    assert host.next_start == 3.75
    host.answered(0, 0.1)
    assert host.next_start == pytest.approx(2.85)
    clock.advance(3)
    assert await host.wait_for_turn(clock) == 3
    host.answered(3, 3)
    assert host.next_start == 5, "once, not for good"
