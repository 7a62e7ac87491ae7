"""Manifests, on either engine: their snapshots, and the order of their deletion."""

from collections.abc import Sequence
from typing import Any

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.manifests.manifest import ManifestFilter, ManifestSnapshot
from longline.ports.records.manifests import SizedManifest
from longline.ports.records.runs.retention import ExpiredRun

ALL_TASKS = 1_000_000
"""Number of tasks at which the snapshot of one manifest looks."""

LISTED_TASKS = 50
"""Number of tasks of each manifest at which a list looks: a list must not read all files of its manifests."""


class ManifestRecords(Table):
    """Manifests beside their runs."""

    async def get(self, uid: str) -> ManifestSnapshot | None:
        return await self._one("manifest_snapshot", ManifestSnapshot, uid=uid, look=ALL_TASKS)

    async def find(self, wanted: ManifestFilter, before: int, limit: int) -> list[ManifestSnapshot]:
        place = {"before": before, "limit": limit}
        filters = {"kind": wanted.kind, "tenant": wanted.tenant, "since": wanted.since}

        async def work(tx: Transaction) -> list[ManifestSnapshot]:
            rows: list[Row] = []
            # One range of the index for each state.
            for more in [{"state": state} for state in wanted.states] or [{}]:
                rows += await tx.all(_listing(wanted), **place, **filters, **more)
            if wanted.awaiting:
                rows += await tx.all("ended_manifests_that_await_files", **place, **filters)
            ids = sorted((row["run_id"] for row in rows), reverse=True)[:limit]
            found = await tx.batch("manifest_snapshots_of_runs", [(run_id,) for run_id in ids], look=LISTED_TASKS)
            return sorted((struct(row, ManifestSnapshot) for row in found), key=lambda one: -one.run_id)

        return await self._database.read(work)

    async def after(self, run_id: int, since: int, limit: int) -> list[ManifestSnapshot]:
        place: dict[str, Any] = {"after": run_id, "since": since, "limit": limit, "look": LISTED_TASKS}
        return await self._all("manifest_snapshots_after", ManifestSnapshot, **place)

    async def of_runs(self, run_ids: Sequence[int]) -> list[ManifestSnapshot]:
        async def work(tx: Transaction) -> list[ManifestSnapshot]:
            rows = await tx.batch("manifest_snapshots_of_runs", [(run_id,) for run_id in run_ids], look=LISTED_TASKS)
            return [struct(row, ManifestSnapshot) for row in rows]

        return await self._database.read(work)

    async def note_total(self, run_id: int, total: int) -> None:
        await self._write("note_manifest_total", run_id=run_id, total=total)

    async def sized(self, last: ExpiredRun, limit: int) -> list[SizedManifest]:
        place = {"after_at": last.ended_at, "after": last.id}
        return await self._all("sized_manifests", SizedManifest, limit=limit, **place)

    async def bytes(self) -> tuple[int, int]:
        async def work(tx: Transaction) -> tuple[int, int]:
            row = await tx.one("manifest_bytes")
            return (row["count"], row["bytes"]) if row else (0, 0)

        return await self._database.read(work)


def _listing(wanted: ManifestFilter) -> str:
    """Return the statement whose index serves the filter best."""
    if wanted.states:
        return "manifests_of_state"
    if wanted.tenant is not None:
        return "manifests_of_tenant"
    if wanted.kind is not None:
        return "manifests_of_kind"
    return "manifests_of_all" if wanted.since is None else "manifests_since"
