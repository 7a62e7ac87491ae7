import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from longline.cli.event_loop import run


def test_a_coroutine_runs_to_the_end_on_uvloop():
    async def work() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run(work()).startswith("uvloop")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """The signal handling of a terminal for Ctrl-C; a test in the background may have inherited one that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_lets_the_work_clean_up():
    cleaned = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    with pytest.raises(KeyboardInterrupt):
        run(work())
    assert cleaned == [True]
