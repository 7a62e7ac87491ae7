"""Runs of downloads for tests of records."""

from collections.abc import Sequence

from longline.engine.lifecycle.moves import Lifecycle
from longline.model.downloads.download import DownloadResult, NewDownload, StoredFile
from longline.model.downloads.download_plan import DownloadPlan
from longline.model.frontier.host import HostLease
from longline.model.frontier.task import ClaimedTask, Outcome
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan, Politeness
from longline.model.runs.end_judgement import EndRules
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.states import TaskState
from longline.ports.records import Records
from tests.drivers.records.world import ended, get_run

PLAN = CrawlPlan(
    (),
    single=True,
    downloads=DownloadPlan(kind="images", tenant="acme"),
    politeness=Politeness(robots=False, delay_ms=0, concurrency=8),
    end=EndRules(judged="any"),
)


def file(name: str, url: str | None = None, **more: object) -> NewDownload:
    """Return a file to be downloaded."""
    given = {"resource_id": name, "url": url or f"https://a.example/{name}", "key": f"resources/{name}"}
    return NewDownload(**given | more)  # type: ignore[arg-type]


async def begin(records: Records, files: Sequence[NewDownload]) -> RunRow:
    """Start a run of these files; return it."""
    run = NewRun(new_id(), RunKind.MANIFEST, PLAN.text())
    return await get_run(records, await Lifecycle(records).downloads.begin(run, files, PLAN, "manifest"))


def stored(lease: HostLease, task: ClaimedTask, data: bytes = b"abc") -> Outcome:
    """Return the outcome of a file that was stored."""
    assert task.download is not None
    kept = StoredFile(task.download.key, len(data), "00" * 32, "image/png")
    return ended(task, download=DownloadResult("images", "acme", lease.host, 12, kept, "http://p.example:1"))


def given_up(lease: HostLease, task: ClaimedTask, reason: str = "http_4xx", status: int | None = 404) -> Outcome:
    """Return the outcome of a file that was given up."""
    result = DownloadResult("images", "acme", lease.host, 7)
    return ended(task, TaskState.FAILED, reason, status=status, error="HTTP 404", download=result)
