"""A platform with plausible contents, for screenshots: sources, schedules, proxies, tasks, items, bots and changes."""

from collections.abc import Mapping

import msgspec

from longline.engine.lifecycle.creation import create_schedule
from longline.model.archive.warc import Capture, Segment, response_record
from longline.model.bots.bot import NewBot
from longline.model.callers.api_key import NewApiKey
from longline.model.frontier.task import NewTask, PageFacts
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.search.item import NewItem, Origin, new_items
from longline.model.series.series import NewSeries, NewTarget
from longline.model.sources.source import NewSource, SourceRow
from longline.model.sources.source_uses import SourceUse
from longline.model.states import TaskState
from longline.model.urls.normalization import dedupe_key
from longline.ports.records.frontier.frontier import WrittenSegment
from longline.services.bots.bots import BotRegistry
from longline.services.callers.api_keys import ApiKeys
from longline.services.proxies.proxies import Proxies
from longline.wiring.platform import Platform
from tests.drivers.records.world import ME, admit, claim, ended, host_report, report, running_run, urls

SITES = {
    "Tidewater books": ("tidewater-books.example", SourceUse.PRODUCTS),
    "Kelp market": ("kelp-market.example", SourceUse.PRODUCTS),
    "Norrland press": ("norrland-press.example", SourceUse.INTERVAL),
    "Gannet gazette": ("gannet-gazette.example", SourceUse.INTERVAL),
    "Pelagic comics": ("pelagic-comics.example", SourceUse.CATALOGUE),
    "Harbour times": ("harbour-times.example", SourceUse.INTERVAL),
}
BOOKS = ("Knots and Splices", "The Tide Tables", "Lighthouses of the North", "A Sailor's Ropework", "Charts by Hand")
HOUR_MS = 3_600_000


async def make_showcase(platform: Platform) -> Mapping[str, str]:
    """Make the contents; return the addresses of pages by the names of their pictures."""
    records = platform.records
    sources = {name: await _source(platform, name) for name in SITES}
    books = sources["Tidewater books"]
    worker = await records.workers.join("host-b:4711", "fetch,parse", "")
    await records.workers.join("host-c:802", "fetch,upkeep", "")
    run = await running_run(records, source_id=books.id, seed=books.base_url)
    task, failed = await _crawl(platform, run, worker.id)
    await claim(records, owner=worker.id, hosts=1, tasks=3)
    schedules = [await _schedule(platform, source, number) for number, source in enumerate(sources.values())]
    proxy = await _proxies(platform, [books, sources["Kelp market"]])
    series = await records.catalogues.series.add(NewSeries("The Deep Keeper"))
    await records.catalogues.targets.add(
        NewTarget(series.id, sources["Pelagic comics"].id, "deep-keeper", "https://pelagic-comics.example/deep-keeper")
    )
    await BotRegistry(records.bots).register(NewBot(name="price-watcher", title="Prices of partners"))
    await ApiKeys(records.api_keys, platform.clock).create(NewApiKey("Nightly import", "intervals"))
    items = sorted(await records.items.of_run(run.id), key=lambda item: -item.version)
    return {
        **{name: f"/console/{name}" for name in ("sources", "hosts", "workers", "schedules", "proxies", "items")},
        **{name: f"/console/{name}" for name in ("bots", "policies", "results", "catalogue", "manifests", "alerts")},
        **{name: f"/console/{name}" for name in ("audit", "keys", "settings", "dead-letters")},
        "source": f"/console/sources/{books.id}",
        "source-form": f"/console/sources/{books.id}/edit",
        "tasks": f"/console/tasks?run={run.id}",
        "task": f"/console/tasks/{task}",
        "task-failed": f"/console/tasks/{failed}",
        "host": "/console/hosts/kelp-market.example",
        "schedule": f"/console/schedules/{schedules[0]}",
        "proxy": f"/console/proxies/{proxy}",
        "item": f"/console/items/{items[0].id}",
        "series": f"/console/catalogue/{series.id}",
    }


async def _source(platform: Platform, name: str) -> SourceRow:
    host, use = SITES[name]
    return await platform.records.sources.make(
        NewSource(name, f"https://{host}/", use=use, delay_ms=1000, concurrency=2, crawl='{"max_depth":3}')
    )


async def _schedule(platform: Platform, source: SourceRow, number: int) -> str:
    terms = ScheduleSpec(
        url=source.base_url,
        source_ref=source.public_id,
        source_name=source.name,
        every=6 if number % 2 else 24,
        unit="hours",
        enabled=True,
    )
    due = platform.clock.now() + 4 * HOUR_MS + (number // 4) * HOUR_MS
    new = NewSchedule(new_id(), terms.url, source.id, terms.interval_ms, due, terms)
    row = await create_schedule(platform.records.schedules, new, "person")
    return row.uid


async def _crawl(platform: Platform, run: RunRow, owner: int) -> tuple[int, int]:
    """Crawl pages with items of changing prices; return a completed task and a failed one."""
    records, host = platform.records, "tidewater-books.example"
    links = [f"https://{host}/books/{number}" for number in range(8)]
    await admit(records, *(NewTask(link, host, dedupe_key(link), run.id, run.id, depth=1) for link in links))
    lease = (await claim(records, owner=owner))[host]
    await admit(records, *urls(run, "kelp-market.example", 40), *urls(run, "norrland-press.example", 12))
    now = platform.clock.now()
    segment, outcomes, items = Segment(()), [], []
    for number, task in enumerate(lease.tasks):
        if number >= len(BOOKS):
            failure = ended(task, TaskState.FAILED, "http_5xx", status=503, error="HTTP 503")
            outcomes.append(msgspec.structs.replace(failure, at=now, began_at=now - 900))
            continue
        title = BOOKS[number]
        body = f"<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n<p class=price>24.90</p>".encode()
        record = response_record(Capture(task.url, now, 200, (("Content-Type", "text/html"),), body))
        facts = PageFacts(*segment.add(record), record.digest, 200, "text/html", len(body), now, 41, task.url, title)
        outcomes.append(msgspec.structs.replace(ended(task, page=facts, status=200), at=now, began_at=now - 400))
        fields = {"title": title, "price": 24.9 + number, "currency": "EUR", "availability": "in stock"}
        items += new_items([("product", fields, f"book-{number}")], Origin(run.id, task.id, task.url), in_words=True)
    await platform.blobs.put(f"shots-{run.id}", segment.parts)
    begun = await records.segments.begin(f"shots-{run.id}", ME)
    written = WrittenSegment(begun, segment.records, segment.size)
    assert not (await report(records, host_report(lease, outcomes), segment=written, items=items)).refused
    for step, price in enumerate((27.9, 26.9, 22.5)):
        changed = [_repriced(item, price, f"{item.hash}{step}") for item in items[:1]]
        await records.items.put(changed)
    return lease.tasks[0].id, lease.tasks[-1].id


def _repriced(item: NewItem, price: float, digest: str) -> NewItem:
    fields = msgspec.json.decode(item.fields) | {"price": price}
    return msgspec.structs.replace(item, price=price, hash=digest, fields=msgspec.json.encode(fields).decode())


async def _proxies(platform: Platform, sources: list[SourceRow]) -> int:
    proxies = Proxies(platform.records.proxies, platform.vault)
    ids = [(await proxies.add(f"http://eu-{n:02}.proxies.example:8080", country="SE")).id for n in range(1, 8)]
    await proxies.disable(ids[4])
    for source in sources:
        await proxies.assign(source.id, ids[:5])
    return ids[0]
