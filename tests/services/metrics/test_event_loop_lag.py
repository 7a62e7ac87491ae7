import asyncio
import time

from longline.drivers.clock import SystemClock
from longline.services.metrics.event_loop_lag import INTERVAL_SECONDS, KEPT_SECONDS, LoopMonitor
from longline.testing.clock import FakeClock


async def test_a_blocked_loop_is_measured():
    monitor, stop = LoopMonitor(SystemClock()), asyncio.Event()
    running = asyncio.create_task(monitor.run(stop))
    await asyncio.sleep(0.05)
    time.sleep(0.3)  # noqa: ASYNC251 - it holds the loop, which is what is measured
    await asyncio.sleep(0.05)
    stop.set()
    await running
    lag = monitor.lag()
    assert lag.longest_seconds > 0.2
    assert lag.count >= 2
    assert lag.sum_seconds >= lag.longest_seconds
    assert monitor.blocks().longest_seconds == lag.longest_seconds
    assert (await monitor.check()).startswith("longest block ")


def test_delays_are_counted_by_length_and_the_longest_is_forgotten():
    clock = FakeClock()
    monitor = LoopMonitor(clock)
    for seconds in (0.001, 0.03, 0.05, 7.0):
        monitor.note(seconds)
    lag = monitor.lag()
    assert dict(lag.at_most)[0.005] == 1
    assert dict(lag.at_most)[0.05] == 3
    assert dict(lag.at_most)[5.0] == 3
    assert (lag.count, lag.longest_seconds) == (4, 7.0)
    for _ in range(2):
        clock.advance(KEPT_SECONDS)
        monitor.note(0.001)
    assert monitor.lag().longest_seconds == 0.001


def test_a_delay_for_other_processes_of_the_system_is_no_block():
    monitor = LoopMonitor(FakeClock())
    monitor.note(0.15, run_delay=0.14 + INTERVAL_SECONDS)
    monitor.note(0.03, run_delay=5.0)
    assert round(monitor.blocks().longest_seconds, 6) == 0.01
    assert dict(monitor.blocks().at_most)[0.05] == 2
    assert monitor.lag().longest_seconds == 0.15
    assert round(monitor.run_delay_seconds, 6) == round(5.14 + INTERVAL_SECONDS, 6)


def test_a_run_delay_before_the_loop_was_due_makes_no_block_shorter():
    monitor = LoopMonitor(FakeClock())
    monitor.note(0.06, run_delay=INTERVAL_SECONDS)
    assert monitor.blocks().longest_seconds == 0.06


async def test_the_run_delay_of_the_loops_thread_is_read_with_every_delay():
    delays, stop = iter((1.0, 3.0, 3.5)), asyncio.Event()

    def run_delay() -> float:
        seconds = next(delays)
        if seconds > 3.0:
            stop.set()
        return seconds

    monitor = LoopMonitor(SystemClock(), run_delay)
    await monitor.run(stop)
    assert monitor.run_delay_seconds == 2.5
    assert monitor.blocks().sum_seconds == 0.0
