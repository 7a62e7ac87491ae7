"""The worker of the outbox of run ends."""

import pytest

from longline.engine.runs import end_effects
from longline.engine.runs.end_effects import RunEffectWorker
from longline.model.errors import Unavailable
from longline.model.runs.end_effect import LEASE_MS, RunEffect, RunEffectKind
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import FakeClock
from tests.drivers.records.runs.test_end_effects import PLAN
from tests.drivers.records.world import queued_run

KIND = RunEffectKind.SOURCE_HEALTH


async def ended_runs(records: Records, amount: int) -> list[int]:
    runs = [await queued_run(records, plan=PLAN) for _ in range(amount)]
    for run in runs:
        await records.moves.apply(Change("run", run.id, "cancel", "queued", "cancelled", "person"))
    return [run.id for run in runs]


async def test_every_effect_is_carried_out_once_in_order(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(end_effects, "BATCH_SIZE", 2)
    runs, seen = await ended_runs(records, 5), []

    async def handle(effect: RunEffect) -> bool:
        seen.append(effect.run_id)
        return await records.run_effects.finish(effect)

    worker = RunEffectWorker(records.run_effects, {KIND: handle})
    assert (await worker.once(), await worker.once(), seen) == (5, 0, runs)


async def test_a_failed_effect_is_repeated_later_and_delays_no_other(
    records: Records, clock: FakeClock, caplog: pytest.LogCaptureFixture
):
    runs, tries = await ended_runs(records, 2), []

    async def handle(effect: RunEffect) -> bool:
        tries.append((effect.run_id, effect.attempt))
        if effect.run_id == runs[0] and effect.attempt < 3:
            raise ValueError("no route")
        return await records.run_effects.finish(effect)

    worker = RunEffectWorker(records.run_effects, {KIND: handle})
    assert await worker.once() == 1
    assert "effect of a run end failed, will retry" in caplog.text
    for seconds in (1.0, 2.0):
        assert await worker.once() == 0
        clock.advance(seconds)
        await worker.once()
    assert tries == [(runs[0], 1), (runs[1], 1), (runs[0], 2), (runs[0], 3)]
    assert await records.run_effects.waiting() == {}


async def test_a_failed_engine_ends_the_look_and_loses_no_effect(records: Records, clock: FakeClock):
    await ended_runs(records, 1)

    async def away(_: RunEffect) -> bool:
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        await RunEffectWorker(records.run_effects, {KIND: away}).once()
    clock.advance(LEASE_MS / 1000)
    assert await RunEffectWorker(records.run_effects, {KIND: records.run_effects.note_health}).once() == 1
