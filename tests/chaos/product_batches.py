"""Batches of 10,000 URLs on both engines, and a domain with 200,000 waiting tasks that is switched off and on.

`python -m tests.chaos.product_batches` runs both; the suite runs them with fewer URLs. A second submission of a batch
must change no row, by a hash of all tables. The log of the shop is the witness of the switch.
"""

import asyncio
import hashlib
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.product_races import submit
from tests.chaos.products import Shop
from tests.drivers.records.peek import Peek
from tests.journeys.place import Place, wait_until
from tests.journeys.test_serve import up
from tests.servers import running_postgres
from tests.surfaces.products.running import running
from tests.web import running_site

URLS, WAITING, BATCH = 10_000, 200_000, 10_000
NOT_COMPARED = {"counters", "workers", "rate_limits"}
"""Tables that change with requests and time."""

PAGE_SECONDS, FELT_SECONDS, LOOK_SECONDS = 0.02, 1.0, 2.5
STARTED = 50
"""Requests of the shop before the switch."""


async def submit_twice(folder: Path, database: str, urls: int) -> dict[str, Any]:
    """Submit a batch twice, and return the seconds of both."""
    async with running(folder, database) as door:
        domain = await door.domain()
        body = {"domain_id": domain["id"], "urls": [f"https://shop.example/p/{number}" for number in range(urls)]}
        begun = time.monotonic()
        first = await door.write("POST", "admin/tasks/batch", body, 201)
        middle, before = time.monotonic(), await tables(door.stage.settings.database)
        resumed = time.monotonic()
        second = await door.write("POST", "admin/tasks/batch", body, 201)
        seconds = middle - begun, time.monotonic() - resumed
        assert await tables(door.stage.settings.database) == before, "a repeated batch changes no row"
    assert (first["total_submitted"], first["total_duplicates"], first["total_failed"]) == (urls, 0, 0)
    assert (second["total_submitted"], second["total_duplicates"], second["task_ids"]) == (0, urls, [])
    return {"first seconds": round(seconds[0], 2), "second seconds": round(seconds[1], 2)}


async def tables(database: str) -> dict[str, str]:
    """Return a digest of each table."""
    looking = Peek(database)
    rows = await looking.snapshot()
    await looking.close()
    return {
        name: hashlib.sha256(repr(found).encode()).hexdigest()
        for name, found in rows.items()
        if name not in NOT_COMPARED
    }


def switch(place: Place, waiting: int) -> dict[str, Any]:
    """Switch a domain with many waiting tasks off while it is crawled, and on again."""
    with running_site(pages=0) as site, up(place) as platform:
        with httpx.Client(base_url=platform.where, timeout=120) as client:
            shop = Shop(site, client, 0)
            site.site.delay, shop.pages = PAGE_SECONDS, min(waiting, BATCH)
            submit(shop)
            domain = shop.ask("GET", "admin/domains")["data"][0]["id"]
            base = site.url.rstrip("/")
            for first in range(BATCH, waiting, BATCH):
                urls = [f"{base}/q/{number}" for number in range(first, min(first + BATCH, waiting))]
                shop.ask("POST", "admin/tasks/batch", {"domain_id": domain, "urls": urls})
            wait_until(lambda: len(site.site.requests) > STARTED, "the shop is crawled")
            figures = switched(shop, domain)
        platform.stop()
    return {"waiting tasks": waiting} | figures


def switched(shop: Shop, domain: int) -> dict[str, Any]:
    """Switch off, read the log of the shop, switch on; return the times of both calls and of the last request."""
    off, off_ms = call(shop, domain, "disable")
    time.sleep(LOOK_SECONDS)
    late = [visit.time - off for visit in list(shop.site.site.requests) if visit.time > off]
    count = len(shop.site.site.requests)
    assert all(after < FELT_SECONDS for after in late), max(late)
    _, on_ms = call(shop, domain, "enable")
    wait_until(lambda: len(shop.site.site.requests) > count + STARTED, "the shop is crawled again")
    last = round(max(late, default=0.0), 3)
    return {
        "off ms": off_ms,
        "on ms": on_ms,
        "last request after seconds": last,
        "requests after the switch": len(late),
    }


def call(shop: Shop, domain: int, verb: str) -> tuple[float, float]:
    begun = time.monotonic()
    shop.ask("POST", f"admin/domains/{domain}/{verb}")
    ended = time.monotonic()
    return ended, round((ended - begun) * 1000, 1)


def main() -> None:
    """Run both on PostgreSQL, and the batches on SQLite too; the first argument is the number of waiting tasks."""
    waiting = int(sys.argv[1]) if len(sys.argv) > 1 else WAITING
    with running_postgres() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("SQLite:", asyncio.run(submit_twice(folder / "lite", "", URLS)))
        with server.fresh_database() as url:
            print("PostgreSQL:", asyncio.run(submit_twice(folder / "pg", url, URLS)))
        with server.fresh_database() as url:
            print("switch:", switch(Place(folder / "switch" / "data", {"database": url}), waiting))


if __name__ == "__main__":
    main()
