"""Domains and workers for the tests of tasks: they change the rows as a crawl does, without requests."""

from msgspec.structs import replace

from longline.model.frontier.host import HostReport
from longline.model.frontier.task import ClaimedTask, Outcome, PageFacts
from longline.model.ids import new_id
from longline.model.sources.source import NewSource
from longline.model.sources.source_uses import SourceUse
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, ReportBatch, WrittenSegment
from longline.wiring.subjects.recrawls import recrawl_services
from tests.surfaces.products.running import Door, Json

TTL_MS, WORKER = 30_000, 1


def domain(door: Door, name: str = "shop.example", *, enabled: bool = True) -> int:
    """Make a domain and return its id."""
    source = NewSource(name, f"https://{name}/", use=SourceUse.PRODUCTS, enabled=enabled, delay_ms=0, concurrency=5)
    return door.call(door.platform.records.sources.make(source)).id


def switch(door: Door, domain_id: int, *, on: bool) -> None:
    """Switch the requests of a domain off, or on again."""
    holds = recrawl_services(door.platform).holds
    door.call(holds.enable(domain_id) if on else holds.disable(domain_id))


async def submit(door: Door, domain_id: int, path: str = "/p", **more: object) -> Json:
    """Submit a task for a page of the shop."""
    body = {"domain_id": domain_id, "url": f"https://shop.example{path}"} | more
    found: Json = await door.write("POST", "admin/tasks", body, 201)
    return found


def claim(door: Door, tasks: int = 100) -> list[ClaimedTask]:
    """Claim tasks as a worker that never releases the hosts."""
    return door.call(_claimed(door.platform.records, tasks))


async def _claimed(records: Records, tasks: int) -> list[ClaimedTask]:
    leases = await records.frontier.claim(ClaimRequest(WORKER, 100, tasks, TTL_MS))
    return [task for lease in leases for task in lease.tasks]


def work(
    door: Door,
    became: TaskState = TaskState.COMPLETED,
    reason: str = "ok",
    *,
    due_ms: int = 0,
    error: str | None = None,
    is_paged: bool = True,
) -> list[int]:
    """Let a worker do all that is due, with this outcome; the ids of the tasks."""
    return door.call(worked(door.platform.records, became, reason, due_ms, error, is_paged=is_paged))


async def worked(
    records: Records,
    became: TaskState = TaskState.COMPLETED,
    reason: str = "ok",
    due_ms: int = 0,
    error: str | None = None,
    *,
    is_paged: bool = True,
) -> list[int]:
    """Let a worker do all that is due, with this outcome; the ids of the tasks."""
    now, done = await records.schema.now(), []
    for lease in await records.frontier.claim(ClaimRequest(WORKER, 100, 1000, TTL_MS)):
        outcomes = [
            Outcome(task, became, reason, now, due=now + due_ms if due_ms else 0, error=error, began_at=now - 250)
            for task in lease.tasks
        ]
        segment = None
        if is_paged and became != TaskState.PENDING and outcomes:
            segment = WrittenSegment(await records.segments.begin(new_id(), WORKER), len(outcomes), 100)
            outcomes = [replace(o, page=_page(o.task.url), status=200) for o in outcomes]
        report = HostReport(lease.host_id, lease.token, tuple(outcomes), release=True)
        assert not (await records.frontier.report(ReportBatch(reports=[report], segment=segment))).refused
        done += [task.id for task in lease.tasks]
    return done


def _page(url: str) -> PageFacts:
    return PageFacts(0, 100, "sha256:00", 200, "text/html", 90, 1, 450, url)
