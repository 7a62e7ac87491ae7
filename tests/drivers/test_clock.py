"""The machine's clock."""

import time

from longline.drivers.clock import SystemClock


async def test_the_clock_has_the_machines_time_and_waits():
    clock = SystemClock()
    before = time.time_ns() // 1_000_000
    assert before <= clock.now() <= time.time_ns() // 1_000_000
    begun = clock.monotonic()
    await clock.sleep(0.01)
    assert clock.monotonic() - begun >= 0.009
