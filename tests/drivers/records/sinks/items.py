"""Items for tests of sinks."""

from msgspec.structs import replace

from longline.model.frontier.host import HostLease
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.search.item import Origin, new_items
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import WrittenSegment
from tests.drivers.records.world import ME, admit, claim_one, ended, host_report, page, report, running_run, url, visit


async def add_items(records: Records, run: RunRow, count: int, path: str = "/") -> None:
    """Add items of one page to a run."""
    made = [("book", {"title": f"T{n}", "url": f"https://a.example{path}{n}"}) for n in range(count)]
    await visit(records, run, {path: list(made)})


class OpenRun:
    """A run that finds its pages one by one."""

    def __init__(self, records: Records, run: RunRow, lease: HostLease) -> None:
        self._records, self._lease, self._tasks = records, lease, list(lease.tasks)
        self.id = run.id

    @classmethod
    async def begin(cls, records: Records, pages: int) -> "OpenRun":
        """Start a run with that many pages to find."""
        run = await running_run(records)
        await admit(records, *(url(run, path=f"/{number}") for number in range(pages)))
        return cls(records, run, await claim_one(records))

    async def find(self, items: int) -> None:
        """Report the next page, with that many items."""
        task = self._tasks.pop()
        found = [("book", {"title": "T", "url": f"{task.url}#{number}"}) for number in range(items)]
        segment = WrittenSegment(await self._records.segments.begin(new_id(), ME), 1, 100)
        said = host_report(self._lease, [ended(task, page=replace(page(), url=task.url))], release=not self._tasks)
        made = new_items(found, Origin(self.id, task.id, task.url))
        assert not (await report(self._records, said, segment=segment, items=list(made))).refused
