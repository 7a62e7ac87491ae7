"""Short helpers for tests of recrawls: a source, its run, URLs."""

from longline.model.ids import new_id
from longline.model.recrawls.recrawl import NewRecrawl, RecrawlSubmission
from longline.model.recrawls.url_hash import submitted_hash
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.sources.source import NewSource
from longline.model.sources.source_uses import SourceUse
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting

HOST = "shop.example"
DAY_MS = 86_400_000


async def shop(records: Records, name: str = HOST) -> RunRow:
    """Return the standing run of a new source for products."""
    made = await records.sources.add(NewSource(name, f"https://{name}/", use=SourceUse.PRODUCTS))
    return await records.runs.ensure(NewRun(new_id(), RunKind.PRODUCTS, "{}", str(made.id), source_id=made.id))


def recrawl(run: RunRow, path: str = "/p", **more: object) -> NewRecrawl:
    """Return a URL to be submitted."""
    url = f"https://{run_host(more)}{path}"
    facts = {
        "url": url,
        "href": url,
        "url_hash": submitted_hash(url),
        "host": run_host(more),
        "run_id": run.id,
        "source_id": run.source_id,
        "priority": 500,
        "max_attempts": 4,
        "created_by": "admin",
    }
    return NewRecrawl(**facts | more)  # type: ignore[arg-type]


def run_host(facts: dict[str, object]) -> str:
    """Return the host of a URL."""
    return str(facts.get("host", HOST))


async def submit(records: Records, *recrawls: NewRecrawl) -> RecrawlSubmission:
    """Submit URLs, with their hosts."""
    return await records.recrawls.submit(recrawls, [HostSetting(one.host, 1000, 1) for one in recrawls])


async def submit_one(records: Records, one: NewRecrawl) -> int:
    """Submit a URL that must be new; return its id."""
    [task_id] = (await submit(records, one)).ids.values()
    return task_id
