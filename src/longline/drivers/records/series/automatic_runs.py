"""Runs of catalogues that start by themselves, on either engine."""

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.drivers.records.series.series_runs import insert_series_run
from longline.model.runs.run import NewRun
from longline.model.series.series import TargetRow
from longline.model.series.series_run import NewSeriesRun
from longline.model.series.series_schedule import AutomaticSource


class AutomaticRunRecords(Table):
    """Sources and targets that are due for an automatic run."""

    async def sources(self, after_id: int, limit: int) -> list[AutomaticSource]:
        return await self._all("automatic_sources", AutomaticSource, after_id=after_id, limit=limit)

    async def targets(self, source_id: int, before: int, limit: int) -> list[TargetRow]:
        return await self._all("due_targets", TargetRow, source_id=source_id, before=before, limit=limit)

    async def add(self, run: NewRun, facts: NewSeriesRun, before: int) -> bool:
        async def work(tx: Transaction) -> bool:
            place = {"source_id": run.source_id, "before": before}
            tried = await (
                tx.all("try_targets", subject=run.subject, **place) if run.subject else tx.all("try_discovery", **place)
            )
            subject = {"kind": run.kind, "source_id": run.source_id, "subject": run.subject}
            if not tried or await tx.one("open_run_of_subject", **subject) is not None:
                return False
            await insert_series_run(tx, run, facts, "scheduler")
            return True

        return await self._database.transact(work)
