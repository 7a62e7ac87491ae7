import asyncio
from importlib import import_module
from typing import Any

import pytest

from longline.engine.frontier.reaper import Reaper
from longline.model.errors import CorruptDatabase, Unavailable
from longline.settings import Settings

module = import_module("longline.wiring.serve")


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Failures of the engine at the start of the work, the first one first."""
    left: list[Exception] = []
    reap = Reaper.reap_dead_workers

    async def fail_first(self: Reaper) -> int:
        if left:
            raise left.pop(0)
        return await reap(self)

    monkeypatch.setattr(Reaper, "reap_dead_workers", fail_first)
    monkeypatch.setattr(module, "RETRY_INTERVAL_SECONDS", 0.01)
    return left


async def test_an_engine_that_goes_away_during_the_start_is_waited_for(
    settings: Settings, failures: list[Exception], monkeypatch: pytest.MonkeyPatch
):
    failures += [Unavailable("away"), Unavailable("away")]
    begun = asyncio.Event()

    async def run(loops: dict[str, Any], stop: asyncio.Event) -> None:
        begun.set()
        await asyncio.sleep(0)
        stop.set()

    monkeypatch.setattr(module, "run_loops", run)
    await asyncio.wait_for(module.serve(settings, api=False, roles=frozenset({"upkeep"})), 60)
    assert begun.is_set()
    assert not failures


async def test_an_engine_that_needs_a_person_ends_the_start(settings: Settings, failures: list[Exception]):
    failures.append(CorruptDatabase("damaged"))
    with pytest.raises(CorruptDatabase):
        await module.serve(settings, api=False, roles=frozenset({"upkeep"}))
