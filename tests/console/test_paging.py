"""Long lists are paged by key: every row is shown once, also with inserts and deletions between two pages."""

import re
from html import unescape

import httpx

from longline.engine.lifecycle.creation import create_schedule
from longline.model.bots.bot import NewBot
from longline.model.bots.bot_policy import NewBotPolicy
from longline.model.callers.api_key import NewApiKey
from longline.model.ids import new_id
from longline.model.proxies.source_alerts import Alert
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.search.item import Origin, new_items
from longline.model.series.series import NewSeries
from longline.model.sources.source import NewSource
from longline.services.bots.bots import BotRegistry
from longline.services.proxies.proxies import Proxies
from longline.wiring.platform import Platform
from tests.drivers.records.world import running_run
from tests.surfaces.intervals.platform import Door

ROWS = 70
"""More than one page and less than two, but for items: those have 20 on a page."""


def policy(number: int, now: int) -> NewBotPolicy:
    """Return a policy for one URL."""
    return NewBotPolicy(
        uid=new_id(),
        url=f"https://b{number}.example/",
        interval_ms=60_000,
        priority=500,
        max_retries=3,
        backoff_ms=1000,
        lease_ms=60_000,
        enabled=True,
        next_due=now,
    )


async def make_rows(platform: Platform) -> int:
    """Make so many of everything that has a list; return the run of the items."""
    records, now = platform.records, platform.clock.now()
    run = await running_run(records)
    for number in range(ROWS):
        source = await records.sources.add(NewSource(f"Name {number:02}", f"https://s{number}.example/"))
        terms = ScheduleSpec(url=source.base_url, source_ref=source.public_id, every=1, unit="hours", enabled=True)
        # Some start at the same time, and some run once.
        interval = None if number % 3 == 0 else terms.interval_ms
        new = NewSchedule(new_id(), terms.url, source.id, interval, now + 3_600_000 + number // 4 * 1000, terms)
        await create_schedule(records.schedules, new, "person")
        await Proxies(records.proxies, platform.vault).add(f"http://p{number}.example:8080")
        # Equal titles are ordered by their ids.
        await records.catalogues.series.add(NewSeries(f"Title {number % 7}"))
        await BotRegistry(records.bots).register(NewBot(name=f"bot-{number:02}"))
        await records.bot_schedules.add(policy(number, now))
        key = NewApiKey(f"key {number:02}", "intervals")
        await records.api_keys.add(key, f"uid{number}", "h")
    told = [Alert("late_queue", f"{n}", f"alert {n:02}", n, 0) for n in range(ROWS)]
    await records.alerts.settle(told, "paging")
    await records.alerts.settle([], "paging")
    facts = [("product" if n % 2 else "article", {"title": f"Item {n}"}, f"item-{n}") for n in range(ROWS)]
    await records.items.put(new_items(facts, Origin(run.id, 1, "https://i.example/")))
    return run.id


async def walk(client: httpx.AsyncClient, path: str, row: str) -> list[str]:
    """Return the rows of all pages of a list, in their order."""
    found: list[str] = []
    following: str | None = path
    while following:
        answer = await client.get(following)
        assert answer.status_code == 200, (following, answer.text)
        found += re.findall(row, answer.text)
        link = re.search(r'href="([^"]+)" rel="next"', answer.text)
        following = unescape(link[1]) if link else None
        assert len(found) < 1000
    return found


async def test_every_list_shows_each_row_once(door: Door, visitor: httpx.AsyncClient):
    run = await make_rows(door.platform)
    lists = {
        "sources": r'href="/console/sources/(\d+)"',
        "schedules": r'class="strong" href="/console/schedules/([^"]+)"',
        "proxies": r'class="strong" href="/console/proxies/(\d+)"',
        "bots": r"<b><bdi>(bot-\d+)</bdi></b>",
        "policies": r"<b><bdi>(https://b\d+\.example/)</bdi></b>",
        "catalogue": r'class="strong" href="/console/catalogue/([^"]+)"',
        "items": r'class="strong" href="/console/items/(\d+)"',
        "keys": r"<b><bdi>(key \d+)</bdi></b>",
        "alerts": r"<bdi>(alert \d+)</bdi>",
        f"items?run={run}": r'class="strong" href="/console/items/(\d+)"',
    }
    for name, row in lists.items():
        found = await walk(visitor, f"/console/{name}", row)
        assert len(found) == len(set(found)) == ROWS, (name, len(found), len(set(found)))
    products = await walk(visitor, "/console/items?kind=product", lists["items"])
    assert len(set(products)) == len(products) == ROWS // 2


async def test_a_row_that_is_removed_between_two_pages_hides_no_other(door: Door, visitor: httpx.AsyncClient):
    await make_rows(door.platform)
    first = (await visitor.get("/console/proxies")).text
    link = re.search(r'href="([^"]+)" rel="next"', first)
    assert link
    shown = re.findall(r'class="strong" href="/console/proxies/(\d+)"', first)
    await door.platform.records.proxies.remove(int(shown[0]))
    behind = (await visitor.get(unescape(link[1]))).text
    assert len(re.findall(r'class="strong" href="/console/proxies/(\d+)"', behind)) == ROWS - len(shown)
