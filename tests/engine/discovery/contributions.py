"""Contributions to reports, written by a report on real records."""

from collections.abc import Sequence

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.parse.report_additions import Contributor, ReportAdditions, additions_of
from longline.engine.worker.finished_task import Finished
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch


async def contributed(contribute: Contributor, pages: Sequence[Finished]) -> ReportAdditions:
    """Return the rows that go with the report of these pages."""
    return await additions_of([contribute], [page.as_reported for page in pages])


async def reported(records: Records, contribute: Contributor, *pages: Finished) -> None:
    """Write the rows that go with the report of these pages."""
    found = await contributed(contribute, pages)
    batch = ReportBatch(admit=found.tasks, links=found.links, link_details=found.link_details, findings=found.findings)
    await Lifecycle(records).report(batch, found.hosts)
    found.written()
