import asyncio
import time

from longline.drivers.clock import SystemClock
from longline.services.event_loop_lag import KEPT_SECONDS, LoopMonitor
from longline.testing.clock import FakeClock


async def test_a_loop_that_is_held_is_seen():
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
    assert (await monitor.check()).startswith("longest block ")


def test_delays_are_counted_by_their_length_and_the_longest_is_forgotten():
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
