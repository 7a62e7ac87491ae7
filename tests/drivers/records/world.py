"""Short helpers for tests of records: a run, some URLs, their outcomes."""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import ClaimedTask, NewTask, Outcome, PageFacts
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunRow
from longline.model.search.item import Made, Origin, new_items
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import (
    Admitted,
    Change,
    ClaimRequest,
    HostSetting,
    ReportBatch,
    Reported,
    WrittenSegment,
)

DELAY = 1000
TTL = 30_000
ME, YOU = 1, 2


def url(run: RunRow | int, host: str = "a.example", path: str = "/", **more: object) -> NewTask:
    """Return a URL to be admitted; its scope is its run by default."""
    run_id = run if isinstance(run, int) else run.id
    facts = {"scope": run_id, "run_id": run_id} | more
    key = hashlib.sha256(path.encode()).digest()[:16]
    return NewTask(url=f"https://{host}{path}", host=host, key=key, **facts)  # type: ignore[arg-type]


def urls(run: RunRow | int, host: str, amount: int, **more: object) -> list[NewTask]:
    """Return several URLs of one host."""
    return [url(run, host, f"/{i}", **more) for i in range(amount)]


async def queued_run(records: Records, **facts: object) -> RunRow:
    """Add a run that has not started."""
    return await records.runs.add(NewRun(new_id(), "crawl", **{"plan": "{}"} | facts))  # type: ignore[arg-type]


async def running_run(records: Records, **facts: object) -> RunRow:
    """Start a run."""
    run = await queued_run(records, **facts)
    assert await records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
    return await get_run(records, run.id)


async def get_run(records: Records, run_id: int) -> RunRow:
    """Return a run, which must exist."""
    run = await records.runs.get(run_id)
    assert run is not None
    return run


async def admit(records: Records, *tasks: NewTask) -> Admitted:
    """Admit URLs, their hosts first."""
    await records.frontier.ensure_hosts([HostSetting(t.host, DELAY, 1) for t in tasks])
    return await records.frontier.admit(tasks, {})


async def claim(records: Records, owner: int = ME, hosts: int = 100, tasks: int = 100) -> dict[str, HostLease]:
    """Lease hosts; return the leases by host."""
    return {lease.host: lease for lease in await records.frontier.claim(ClaimRequest(owner, hosts, tasks, TTL))}


async def claim_one(records: Records, host: str = "a.example", owner: int = ME) -> HostLease:
    """Lease hosts, of which this must be the only one."""
    leases = await claim(records, owner)
    assert list(leases) == [host]
    return leases[host]


def ended(task: ClaimedTask, became: TaskState = TaskState.COMPLETED, reason: str = "ok", **more: object) -> Outcome:
    """Return the outcome of a task."""
    return Outcome(task, became, reason, at=1, **more)  # type: ignore[arg-type]


def host_report(lease: HostLease, outcomes: Sequence[Outcome] | None = None, **more: object) -> HostReport:
    """Return the report of a host, which is released; by default all its tasks are complete."""
    outcomes = [ended(task) for task in lease.tasks] if outcomes is None else outcomes
    return HostReport(lease.host_id, lease.token, tuple(outcomes), **({"release": True} | more))  # type: ignore[arg-type]


async def report(records: Records, *reports: HostReport, **more: object) -> Reported:
    """Send a report."""
    return await records.frontier.report(ReportBatch(reports=reports, **more))  # type: ignore[arg-type]


async def release(records: Records, lease: HostLease, not_before: int = 0) -> None:
    """Give a host back as if it had never been claimed."""
    back = HostReport(lease.host_id, lease.token, unstarted=lease.tasks, not_before=not_before, release=True)
    assert not (await report(records, back)).refused


def page(offset: int = 0, title: str = "") -> PageFacts:
    """Return the facts of a page."""
    return PageFacts(offset, 100, "sha256:00", 200, "text/html", 90, 1, 5, "https://a.example/", title, '"e"', None)


async def page_of(records: Records, task_id: int) -> tuple[str, PageFacts]:
    """Return the segment of a task's page, and the facts of the page."""
    row = await records.pages.get(task_id)
    assert row is not None
    return row.segment, PageFacts(**{name: getattr(row, name) for name in PageFacts.__struct_fields__})


def source(name: str | None, base_url: str = "") -> dict[str, object]:
    """Return the parameters of the statement that adds a source."""
    row: dict[str, object] = {
        "name": name,
        "slug": name,
        "uses": '["interval"]',
        "base_url": base_url,
        "extension": None,
        "extension_config": "{}",
        "user_agent": None,
        "delay_ms": None,
        "concurrency": None,
        "parser": None,
        "config": "{}",
        "crawl": "{}",
        "sinks": "[]",
        "proxy_pools": "[]",
        "robots_url": None,
        "recrawl": "{}",
    }
    feed = {"enabled": True, "feed_url": None, "feed_wanted": True, "feed_every_ms": 900_000}
    return row | feed | {"identity_key": None, "budget": None, "ref": None, "uid": None}


ANY_SOURCES: dict[str, object] = {
    "search": None,
    "name": None,
    "enabled": None,
    "feed_active": None,
    "sort": "name",
    "falling": False,
    "failing": None,
    "after": None,
}
"""The parameters of the statement that lists sources, besides their number."""


Visits = Mapping[str, Sequence[Made] | str | None]
"""The results of a run at paths: the items of a page, None while it waits for its parser, or the reason for no page."""


async def visit(records: Records, run: RunRow | int, *steps: Visits) -> None:
    """Let a run fetch these paths of one host, those of each step in one report."""
    await admit(records, *(url(run, path=path) for found in steps for path in found))
    lease = await claim_one(records)
    tasks = {task.url.removeprefix("https://a.example"): task for task in lease.tasks}
    for found in steps:
        outcomes = [_visited(tasks[path], result) for path, result in found.items()]
        items = [
            item
            for o in outcomes
            if o.page
            for item in new_items(found[o.task.url[17:]] or (), Origin(o.task.run_id, o.task.id, o.task.url))  # type: ignore[arg-type]
        ]
        pages = sum(outcome.page is not None for outcome in outcomes)
        segment = WrittenSegment(await records.segments.begin(new_id(), ME), pages, 100) if pages else None
        said = host_report(lease, outcomes, release=found is steps[-1])
        assert not (await report(records, said, segment=segment, items=items)).refused


def _visited(task: ClaimedTask, found: Sequence[Made] | str | None) -> Outcome:
    if not isinstance(found, str):
        became = TaskState.QUEUED_PARSE if found is None else TaskState.COMPLETED
        return ended(task, became, page=replace(page(), url=task.url))
    status = int(found) if found.isdecimal() else None
    return ended(task, TaskState.FAILED, "http_4xx" if status else found, status=status)
