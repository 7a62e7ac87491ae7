"""A platform with hostile text in every field that strangers fill: script, quotes, bidirectional marks, long words."""

from typing import NamedTuple

from longline.engine.lifecycle.creation import create_schedule
from longline.model.archive.warc import Capture, Segment, response_record
from longline.model.bots.bot import NewBot
from longline.model.callers.api_key import NewApiKey
from longline.model.frontier.task import NewTask, PageFacts
from longline.model.ids import new_id
from longline.model.logs.run_log import NewLogEntry
from longline.model.proxies.source_alerts import Alert
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.search.item import Origin, new_items
from longline.model.series.series import NewSeries, NewTarget
from longline.model.sources.source import NewSource
from longline.model.states import TaskState
from longline.model.urls.normalization import dedupe_key
from longline.ports.records.frontier.frontier import WrittenSegment
from longline.services.bots.bots import BotRegistry
from longline.services.callers.api_keys import ApiKeys
from longline.services.proxies.proxies import Proxies
from longline.wiring.platform import Platform
from tests.drivers.records.world import ME, admit, claim, ended, host_report, report, running_run, urls

SCRIPT = "<script>document.documentElement.dataset.owned = 1</script>"
HOSTILE = (
    f"{SCRIPT}\"'`><img src=x onerror=document.documentElement.dataset.owned=1>\u202egnp.exe\u2066 {{{{7*7}}}} "
    + "w" * 300
)
LONG = f"{HOSTILE} {'long ' * 5_000}{'w' * 75_000}"
"""100 KB of hostile text, for every field without a bound in its contract."""

AT = 1_700_000_000_000


class Things(NamedTuple):
    """Ids of the objects that were made."""

    source: int
    run: int
    task: int
    schedule: str
    proxy: int
    item: int
    series: str
    worker: int


async def make_things(platform: Platform) -> Things:
    """Make one of everything that pages show, with hostile texts."""
    records = platform.records
    source = await records.sources.make(NewSource(HOSTILE[:200], "https://a.example/", user_agent=HOSTILE[:100]))
    run = await running_run(records, source_id=source.id, seed=f"https://a.example/{LONG}")
    worker = await records.workers.join(HOSTILE[:120], "fetch", "")
    task = await _page(platform, run, worker.id)
    await admit(records, *urls(run, "b.example", 3))
    await claim(records, owner=worker.id, tasks=1)
    terms = ScheduleSpec(
        url="https://a.example/", source_ref=source.public_id, source_name=HOSTILE, every=1, unit="hours", enabled=True
    )
    due = platform.clock.now() + 3_000_000
    new = NewSchedule(new_id(), terms.url, interval_ms=terms.interval_ms, next_due=due, terms=terms)
    schedule = await create_schedule(records.schedules, new, "person")
    proxy = await Proxies(records.proxies, platform.vault).add("http://u:secret-of-proxy@proxy.example:8080")
    await records.proxies.assign(source.id, [proxy.id], 5)
    await records.logs.append([NewLogEntry(run.id, AT, "error", "fetch", LONG)], {})
    told = Alert("stalled_run", HOSTILE, f"no task of {LONG} has moved", 1, 0, source.id, run_id=run.id)
    await records.alerts.settle([told], "hostile")
    await records.alerts.settle([], "hostile")
    await records.alerts.settle([told], "hostile")
    series = await records.catalogues.series.add(NewSeries(HOSTILE[:200]))
    await records.catalogues.targets.add(NewTarget(series.id, source.id, HOSTILE[:80], "https://a.example/s"))
    await BotRegistry(records.bots).register(NewBot(name="a-bot", title=HOSTILE[:100]))
    await ApiKeys(records.api_keys, platform.clock).create(NewApiKey(HOSTILE[:90], "intervals"))
    items = await records.items.of_run(run.id)
    return Things(source.id, run.id, task, schedule.uid, proxy.id, items[0].id, series.id, worker.id)


async def _page(platform: Platform, run: RunRow, owner: int) -> int:
    """Store a completed task with a page in the archive and an item, and a failed task; return the first's number."""
    records, link = platform.records, "https://a.example/page"
    tasks = [NewTask(one, "a.example", dedupe_key(one), run.id, run.id) for one in (link, f"{link}2")]
    await admit(records, *tasks)
    lease = (await claim(records, owner=owner))["a.example"]
    body = f"<title>{LONG}</title>{SCRIPT}".encode()
    segment, record = Segment(()), response_record(Capture(link, AT, 200, (("Content-Type", "text/html"),), body))
    facts = PageFacts(*segment.add(record), record.digest, 200, "text/html", len(body), AT, 5, link, LONG)
    await platform.blobs.put(f"seg-{run.id}", segment.parts)
    begun = await records.segments.begin(f"seg-{run.id}", ME)
    outcomes = [ended(lease.tasks[0], page=facts), ended(lease.tasks[1], TaskState.FAILED, "http_5xx", error=LONG)]
    made = [("product", {"title": LONG, "price": 12.5, "body": LONG, HOSTILE[:60]: LONG}, HOSTILE[:50])]
    items = new_items(made, Origin(run.id, lease.tasks[0].id, link))
    written = WrittenSegment(begun, segment.records, segment.size)
    assert not (await report(records, host_report(lease, outcomes), segment=written, items=items)).refused
    return lease.tasks[0].id


def paths(things: Things) -> list[str]:
    """Return the addresses of all pages of subjects."""
    return [
        *(f"/console/{name}" for name in ("sources", "sources/new", "hosts", "hosts?show=held", "workers", "tasks")),
        *(f"/console/{name}" for name in ("schedules", "schedules/new", "proxies", "manifests", "dead-letters")),
        *(f"/console/{name}" for name in ("items", "bots", "policies", "results", "catalogue", "alerts", "audit")),
        *("/console/keys", "/console/settings", "/console/items?text=gnp", "/console/hosts?text=a"),
        *(f"/console/sources/{things.source}", f"/console/sources/{things.source}/edit"),
        *(f"/console/tasks?run={things.run}", f"/console/tasks/{things.task}", "/console/hosts/a.example"),
        *("/console/hosts/b.example", f"/console/workers/{things.worker}", f"/console/schedules/{things.schedule}"),
        *(f"/console/proxies/{things.proxy}", f"/console/items/{things.item}", f"/console/catalogue/{things.series}"),
        *(f"/console/schedules/new?source={things.source}", f"/console/sources/{things.source}/proxies"),
        *("/console", "/console/runs", f"/console/runs/{things.run}", "/console/search?q=gnp"),
    ]
