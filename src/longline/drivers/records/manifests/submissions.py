"""Submission of manifests: run, manifest, downloads and the answer to the sender's key in one transaction."""

from collections.abc import Sequence

import msgspec

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.downloads.admission import admit_downloads, begin_downloads
from longline.drivers.records.frontier.admission import host_ids
from longline.drivers.records.frontier.lifecycle_moves import move_row
from longline.drivers.records.manifests.idempotency_keys import fulfil, release
from longline.drivers.records.runs.run_counters import RunCounters, lock_runs, reopen
from longline.drivers.records.runs.runs import insert_run
from longline.model.errors import NotFound
from longline.model.manifests.manifest import NewManifest
from longline.model.states import RUN_ENDED, RunState, move
from longline.ports.records.downloads import PlacedDownload
from longline.ports.records.frontier.frontier import Change
from longline.ports.records.manifests import ManifestSubmission

REASON = "manifest"


class ManifestAdmissionRecords:
    """Manifests to be stored with their runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def submit(self, submissions: Sequence[ManifestSubmission]) -> list[int | None]:
        async def work(tx: Transaction) -> list[int | None]:
            answered = [one for one in submissions if await _answer(tx, one)]
            # Lines before runs, and all lines in one order: no two transactions wait for each other.
            hosts = await host_ids(tx, {one.task.host for each in answered for one in each.downloads})
            await tx.batch("lock_lines", [(host_id,) for host_id in sorted(hosts.values())])
            made = {one.run.uid: await _begin(tx, one) for one in answered}
            return [made.get(one.run.uid) for one in submissions]

        return await self._database.transact(work)

    async def extend(self, run_id: int, downloads: Sequence[PlacedDownload]) -> int:
        async def work(tx: Transaction) -> int:
            asked = [(run_id, one.download.resource_id) for one in downloads]
            known = {row["resource_id"] for row in await tx.batch("known_downloads", asked)}
            fresh = [one for one in downloads if one.download.resource_id not in known]
            if not fresh:
                return 0
            hosts = await host_ids(tx, {one.task.host for one in fresh})
            await tx.batch("lock_lines", [(host_id,) for host_id in sorted(hosts.values())])
            run = (await lock_runs(tx, [run_id])).get(run_id)
            if run is None:
                raise NotFound("run", run_id)
            if run["state"] in RUN_ENDED:
                counters = RunCounters()
                await reopen(tx, counters, run_id, run["state"], ("upkeep", "further files came"))
                await counters.write(tx, "upkeep")
            return await admit_downloads(tx, run_id, fresh)

        return await self._database.transact(work)

    async def refuse(self, submission: ManifestSubmission, error: str) -> int:
        async def work(tx: Transaction) -> int:
            manifest, rule = submission.manifest, move("run", "refuse")
            run = await insert_run(tx, submission.run, "person")
            await _add(tx, run["id"], manifest)
            change = Change(
                "run", run["id"], rule.name, RunState.QUEUED, rule.became, "person", manifest.code, error=error
            )
            await move_row(tx, change)
            if manifest.reservation is not None:
                await release(tx, manifest.reservation)
            return int(run["id"])

        return await self._database.transact(work)


async def _answer(tx: Transaction, submission: ManifestSubmission) -> bool:
    """Answer the key of a manifest, if it has one; return False when another request has taken the key over."""
    manifest = submission.manifest
    if manifest.reservation is None:
        return True
    answer = (submission.run.uid, manifest.metadata_key, manifest.resources)
    return await fulfil(tx, manifest.reservation, *answer)


async def _begin(tx: Transaction, submission: ManifestSubmission) -> int:
    run_id = await begin_downloads(tx, submission.run, submission.downloads, REASON)
    await _add(tx, run_id, submission.manifest)
    if not submission.downloads:
        await _end_without_files(tx, run_id)
    return run_id


async def _end_without_files(tx: Transaction, run_id: int) -> None:
    """End a run whose handler made no task of its manifest: no report will do so."""
    counters, runs = RunCounters(), await lock_runs(tx, [run_id])
    await counters.settle(tx, runs[run_id], "worker")
    await counters.write(tx, "worker")


async def _add(tx: Transaction, run_id: int, manifest: NewManifest) -> None:
    values = msgspec.structs.asdict(manifest)
    del values["reservation"]
    await tx.all("add_manifest", run_id=run_id, **values)
