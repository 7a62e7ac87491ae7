import asyncio

import pytest

from longline.engine.loop_supervisor import cancel_on_stop, chore, run_loops
from longline.model.errors import DiskFull, Unavailable


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses before restarts, in seconds; none is waited for."""
    waited: list[float] = []
    wait_for = asyncio.wait_for

    async def impatient(work, seconds):
        waited.append(seconds)
        return await wait_for(work, 0)

    monkeypatch.setattr("longline.engine.loop_supervisor.asyncio.wait_for", impatient)
    return waited


async def test_loops_run_side_by_side_until_all_have_ended_after_the_stop():
    stop, met, ended = asyncio.Event(), asyncio.Barrier(3), []

    async def loop(stop: asyncio.Event) -> None:
        await met.wait()  # passes only if both loops run
        await stop.wait()
        await asyncio.sleep(0)
        ended.append("heard")

    async with asyncio.timeout(60):
        running = asyncio.create_task(run_loops({"a": loop, "b": loop}, stop))
        await met.wait()
        assert not running.done()
        stop.set()
        await running
    assert ended == ["heard"] * 2


async def test_a_failed_loop_is_restarted_and_logged(pauses: list[float], caplog: pytest.LogCaptureFixture):
    stop, lives = asyncio.Event(), 0

    async def mortal(stop: asyncio.Event) -> None:
        nonlocal lives
        lives += 1
        if lives < 4:
            raise ZeroDivisionError
        stop.set()

    await run_loops({"mortal": mortal}, stop)
    assert lives == 4
    assert pauses == [1.0, 2.0, 4.0]
    assert [r.exc_info is not None for r in caplog.records] == [True] * 3
    assert {record.__dict__["loop"] for record in caplog.records} == {"mortal"}


async def test_a_loop_without_its_engine_is_restarted_with_a_warning(
    pauses: list[float], caplog: pytest.LogCaptureFixture
):
    stop, lives = asyncio.Event(), 0

    async def waiting(stop: asyncio.Event) -> None:
        nonlocal lives
        lives += 1
        if lives < 3:
            raise Unavailable("no signals")
        stop.set()

    await run_loops({"waiting": waiting}, stop)
    assert [(r.levelname, r.exc_info) for r in caplog.records] == [("WARNING", None)] * 2


async def test_a_failed_loop_does_not_affect_the_others(pauses: list[float]):
    stop, beats = asyncio.Event(), 0

    async def mortal(stop: asyncio.Event) -> None:
        await asyncio.sleep(0)
        raise KeyError("dead again")

    async def alive(stop: asyncio.Event) -> None:
        nonlocal beats
        while beats < 100:
            beats += 1
            await asyncio.sleep(0)
        stop.set()

    async with asyncio.timeout(60):
        await run_loops({"mortal": mortal, "alive": alive}, stop)
    assert beats == 100


async def test_a_failed_loop_does_not_delay_the_stop(monkeypatch: pytest.MonkeyPatch):
    """The stop ends the pause before a restart."""
    stop, waits = asyncio.Event(), asyncio.Event()

    async def mortal(stop: asyncio.Event) -> None:
        raise KeyError("dead")

    async def forever(work, seconds):
        waits.set()
        return await work

    monkeypatch.setattr("longline.engine.loop_supervisor.asyncio.wait_for", forever)
    running = asyncio.create_task(run_loops({"mortal": mortal}, stop))
    async with asyncio.timeout(60):
        await waits.wait()
        stop.set()
        await running


async def test_a_loop_that_has_ended_is_not_restarted():
    stop, lives = asyncio.Event(), 0

    async def once(stop: asyncio.Event) -> None:
        nonlocal lives
        lives += 1

    await asyncio.wait_for(run_loops({"once": once}, stop), 60)
    assert lives == 1


async def test_a_chore_runs_at_its_interval_until_the_stop(pauses: list[float]):
    stop, done = asyncio.Event(), 0

    async def work() -> None:
        nonlocal done
        done += 1
        if done == 3:
            stop.set()

    await chore(work, 7.0)(stop)
    assert (done, pauses) == (3, [7.0] * 3)


async def test_a_chore_does_not_run_after_the_stop():
    stop = asyncio.Event()
    stop.set()

    async def work() -> None:
        raise AssertionError("begun")

    await chore(work, 7.0)(stop)


async def test_a_chore_waits_for_an_engine_and_raises_other_errors(pauses: list[float]):
    stop, troubles = asyncio.Event(), [Unavailable("no database"), Unavailable("still none"), KeyError("a fault")]

    async def work() -> None:
        raise troubles.pop(0)

    with pytest.raises(KeyError, match="a fault"):
        await chore(work, 7.0)(stop)
    assert pauses == [7.0, 7.0]


async def test_a_chore_without_an_interval_pauses_after_failures_and_logs_each_outage_once(
    pauses: list[float], caplog: pytest.LogCaptureFixture
):
    stop, troubles = asyncio.Event(), [Unavailable("no Redis"), Unavailable("still none"), None, Unavailable("again")]

    async def work() -> None:
        if not troubles:
            stop.set()
        elif (trouble := troubles.pop(0)) is not None:
            raise trouble

    await chore(work, 0.0)(stop)
    assert pauses == [1.0, 1.0, 0.0, 1.0, 0.0]
    assert [record.__dict__["error"] for record in caplog.records if record.levelname == "WARNING"] == [
        "no Redis",
        "again",
    ]


async def test_a_signalled_chore_runs_at_once_and_once_for_each_signal():
    stop, called, done = asyncio.Event(), asyncio.Event(), asyncio.Semaphore(0)

    async def once() -> None:
        done.release()

    running = asyncio.create_task(chore(once, 3600, called)(stop))
    async with asyncio.timeout(5):
        await done.acquire()
        called.set()
        await done.acquire()
        assert done.locked()
        stop.set()
        await running
    assert done.locked()


async def test_a_loop_is_cancelled_at_the_stop():
    stop, begun, cut = asyncio.Event(), asyncio.Event(), []

    async def hangs(_: asyncio.Event) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cut.append("cut")

    async with asyncio.timeout(60):
        running = asyncio.create_task(cancel_on_stop(hangs)(stop))
        await begun.wait()
        stop.set()
        await running
    assert cut == ["cut"]


async def test_a_loop_that_ends_before_the_stop_has_its_own_result():
    async def ends(_: asyncio.Event) -> None:
        """End without an error."""

    async def dies(_: asyncio.Event) -> None:
        raise ZeroDivisionError

    async with asyncio.timeout(60):
        await cancel_on_stop(ends)(asyncio.Event())
        with pytest.raises(ZeroDivisionError):
            await cancel_on_stop(dies)(asyncio.Event())


async def test_a_chore_ends_with_a_fatal_error():
    async def once() -> None:
        raise DiskFull("no room")

    async with asyncio.timeout(60):
        with pytest.raises(DiskFull):
            await chore(once, 0.01, fatal=(DiskFull,))(asyncio.Event())
