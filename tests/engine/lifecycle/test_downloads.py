"""Runs of downloads that begin with their files, and replays; workers are called if there is work."""

from longline.engine.lifecycle.downloads import REPLAY_BATCH_SIZE, DownloadLifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from tests.drivers.records.downloads.files import PLAN, file, given_up
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.world import claim, get_run, host_report, report


async def test_workers_are_called_for_new_and_for_replayed_downloads(records: Records):
    calls = []

    async def call() -> None:
        calls.append(1)

    downloads = DownloadLifecycle(records, PolitenessKey(), call)
    files = [file(str(n)) for n in range(REPLAY_BATCH_SIZE + 1)]
    run_id = await downloads.begin(NewRun(new_id(), RunKind.MANIFEST, PLAN.text()), files, PLAN, "manifest")
    assert await downloads.admit(run_id, files[:1], PLAN) == 0
    assert len(calls) == 1
    lease = (await claim(records, tasks=len(files)))["a.example"]
    await report(records, host_report(lease, [given_up(lease, task) for task in lease.tasks]))
    assert await downloads.replay(DeadLetterFilter(run_id=run_id + 1)) == 0
    assert len(calls) == 1
    assert await downloads.replay(DeadLetterFilter(run_id=run_id)) == len(files)
    assert len(calls) == 2
    run = await get_run(records, run_id)
    assert (run.state, run.open, run.failed) == ("running", len(files), 0)
