"""Batches are moved as a whole; each recrawl is judged by itself."""

from collections.abc import Sequence
from typing import Any

import pytest

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.tasks import TaskResult
from longline.model.errors import NotFound
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.services.frontier.task_moves import TaskMoves
from longline.services.recrawls.batches import Batches
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.recrawls.test_recrawls import fetch_all
from tests.drivers.records.recrawls.world import recrawl, shop, submit


async def test_a_batch_is_paused_resumed_cancelled_and_restarted(records: Records):
    batches, run = Batches(records, TaskMoves(Lifecycle(records))), await shop(records)
    batch = await batches.make("autumn")
    await submit(records, recrawl(run, "/bad", batch_id=batch.id))
    await fetch_all(records, TaskState.FAILED, "http_4xx")
    await submit(records, recrawl(run, "/other"), *(recrawl(run, f"/{n}", batch_id=batch.id) for n in range(2)))
    assert (await batches.get(batch.id)).counts == {"failed": 1, "ready": 2}
    assert len(await batches.pause(batch.id)) == 2
    assert (await batches.get(batch.id)).counts == {"failed": 1, "paused": 2}
    assert len(await batches.resume(batch.id)) == 2
    assert len(await batches.restart(batch.id, only_failed=True)) == 1
    assert len(await batches.restart(batch.id)) == 3
    assert len(await batches.cancel(batch.id)) == 3
    assert await batches.cancel(batch.id) == []
    assert (await batches.get(batch.id)).counts == {"cancelled": 3}
    assert [row.name for row in (await batches.find(limit=5, offset=0))[0]] == ["autumn"]
    for move in (batches.get, batches.pause, batches.restart):
        with pytest.raises(NotFound):
            await move(99)


class BesideFastWorkers(TaskMoves):
    """Moves beside workers that fail every restarted task before the call returns."""

    def __init__(self, records: Records) -> None:
        super().__init__(Lifecycle(records))
        self._records = records
        self.calls = 0

    async def restart(self, task_ids: Sequence[int], **how: Any) -> list[TaskResult]:
        self.calls += 1
        assert self.calls < 9, "a task is restarted repeatedly"
        done = await super().restart(task_ids, **how)
        await fetch_all(self._records, TaskState.FAILED, "http_4xx")
        return done


async def test_a_task_that_fails_again_at_once_is_restarted_once(records: Records):
    moves, run = BesideFastWorkers(records), await shop(records)
    batches = Batches(records, moves)
    batch = await batches.make("autumn")
    await submit(records, recrawl(run, "/bad", batch_id=batch.id), recrawl(run, "/worse", batch_id=batch.id))
    await fetch_all(records, TaskState.FAILED, "http_4xx")
    assert len(await batches.restart(batch.id, only_failed=True)) == 2
    assert (moves.calls, (await batches.get(batch.id)).counts) == (1, {"failed": 2})
