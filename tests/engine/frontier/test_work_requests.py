"""Work requests of a worker without tasks, at growing intervals."""

from longline.engine.frontier.work_requests import MAX_PAUSE_SECONDS, WorkRequest
from longline.testing.clock import FakeClock


async def test_work_requests_become_rarer_and_start_anew_after_work(clock: FakeClock):
    asked: list[float] = []

    async def ask() -> None:
        asked.append(clock.monotonic() - start)

    start, work_request = clock.monotonic(), WorkRequest(ask, clock)
    for _ in range(32):
        await work_request.send_if_due(idle=True)
        clock.advance(0.5)
    assert asked == [0.0, 1.0, 3.0, 7.0, 15.0]
    await work_request.send_if_due(idle=False)
    await work_request.send_if_due(idle=True)
    assert asked[-1] == 16.0
    clock.advance(10 * MAX_PAUSE_SECONDS)
    await work_request.send_if_due(idle=True)
    assert len(asked) == 7
