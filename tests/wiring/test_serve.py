import asyncio
from importlib import import_module
from typing import Any

import msgspec
import pytest

from longline.engine.frontier.lapsed_leases import Reaper
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


async def test_the_start_waits_for_an_engine_that_is_down(
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


async def test_an_engine_error_that_a_person_must_solve_ends_the_start(settings: Settings, failures: list[Exception]):
    failures.append(CorruptDatabase("damaged"))
    with pytest.raises(CorruptDatabase):
        await module.serve(settings, api=False, roles=frozenset({"upkeep"}))


async def test_the_client_of_the_metrics_export_is_closed_at_the_stop(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    stages, begun = list[str](), asyncio.Event()

    class Export:
        async def run(self, stop: asyncio.Event) -> None:
            begun.set()
            await stop.wait()
            stages.append("run ended")

        async def close(self) -> None:
            stages.append("closed")

    async def work(*_: Any, **__: Any) -> None:
        await begun.wait()

    telemetry = msgspec.structs.replace(settings.tables.telemetry, otlp_endpoint="http://127.0.0.1:1")
    tables = msgspec.structs.replace(settings.tables, telemetry=telemetry)
    monkeypatch.setattr(module, "otlp_export", lambda *_: Export())
    monkeypatch.setattr(module, "_work", work)
    await module.serve(msgspec.structs.replace(settings, tables=tables, port=0), api=True, roles=frozenset())
    assert stages == ["run ended", "closed"]
