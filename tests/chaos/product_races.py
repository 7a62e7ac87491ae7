"""Pause, resume, cancel, restart and priority at random from eight clients, at tasks that two workers crawl.

`python -m tests.chaos.product_races` runs it for a minute at 500 tasks on PostgreSQL; the suite for seconds on SQLite.
Each answer of the shop carries a number, which is the price of the product: a completed task must have the number of
its last request, so an effect of a superseded attempt would be seen. All sums are recounted from the rows at the end.
"""

import asyncio
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from longline.drivers.clock import SystemClock
from tests.chaos.products import Shop, product_page
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.journeys.place import Place, wait_until
from tests.journeys.test_serve import up
from tests.servers import running_postgres
from tests.web import running_site
from tests.web.wire import Answer, Request

TASKS, CLIENTS, SECONDS, PAGE_SECONDS = 500, 8, 60.0, 0.2
MOVES = ("pause", "resume", "restart", "cancel", "priority")
STATUSES = {"pending", "queued", "crawling", "downloaded", "queued_parse", "parsing"}
ENDS = {"completed", "failed", "paused", "cancelled"}
DEPENDENT = {"pause", "resume"}
"""Moves that some states refuse; all others are possible in every state."""


class Counting:
    """The pages of the shop: each answer has the next number of its page."""

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()

    def __call__(self, request: Request) -> Answer:
        self.numbers[request.path] += 1
        return Answer(body=product_page(int(request.path.rpartition("/")[2]), self.numbers[request.path]))


class Clients:
    """Clients that move tasks at random until they are stopped."""

    def __init__(self, where: str, task_ids: list[int]) -> None:
        self._where, self._ids = where, task_ids
        self._stop = threading.Event()
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []

    def run(self, seconds: float, clients: int) -> None:
        """Move tasks for a while."""
        with ThreadPoolExecutor(clients) as pool:
            done = [pool.submit(self._move_on, random.Random(seed)) for seed in range(clients)]
            time.sleep(seconds)
            self._stop.set()
            for one in done:
                one.result()

    def _move_on(self, chance: random.Random) -> None:
        with httpx.Client(base_url=self._where, timeout=60) as client:
            while not self._stop.is_set():
                self._move(client, chance.choice(MOVES), chance.choice(self._ids), chance.randint(1, 10))

    def _move(self, client: httpx.Client, verb: str, task_id: int, priority: int) -> None:
        path = f"/api/admin/tasks/{task_id}"
        if verb == "cancel":
            answer = client.delete(path)
        elif verb == "priority":
            answer = client.patch(f"{path}/priority", json={"priority": priority})
        else:
            answer = client.post(f"{path}/{verb}")
        code = answer.json().get("error", {}).get("code", "")
        self.answers[f"{verb} {answer.status_code}"] += 1
        is_refused = verb in DEPENDENT and (answer.status_code, code) == (400, "INVALID_STATUS")
        if answer.status_code != 200 and not is_refused:
            self.wrong.append(f"{verb} {task_id}: {answer.status_code} {answer.text}")


def run(place: Place, tasks: int, seconds: float) -> dict[str, Any]:
    """Crawl, move tasks meanwhile, wait until all tasks are at rest, and check."""
    numbers = Counting()
    with running_site(pages=0) as site, up(place, "--workers", "2") as platform:
        with httpx.Client(base_url=platform.where, timeout=60) as client:
            shop = Shop(site, client, 0)
            shop.pages, site.site.delay = tasks, PAGE_SECONDS
            for number in range(tasks):
                site.site.extra[f"/p/{number}"] = numbers
            ids = submit(shop)
            clients = Clients(platform.where, ids)
            clients.run(seconds, CLIENTS)
            assert clients.wrong == [], clients.wrong[:5]
            come_to_rest(shop)
            figures = check(shop, numbers) | {"answers": dict(sorted(clients.answers.items()))}
        platform.stop()
    found = asyncio.run(recounted(place))
    assert found == [], found
    return figures


def submit(shop: Shop) -> list[int]:
    """Make a domain with all pages of the shop, and return the ids of their tasks."""
    base = shop.site.url.rstrip("/")
    body = {"domain_name": "127.0.0.1", "base_url": base, "parser_name": "product", "crawl_delay_seconds": 0}
    domain = shop.ask("POST", "admin/domains", body | {"max_concurrent_requests": 50})["data"]["id"]
    urls = [f"{base}/p/{number}" for number in range(shop.pages)]
    found: list[int] = shop.ask("POST", "admin/tasks/batch", {"domain_id": domain, "urls": urls})["data"]["task_ids"]
    return found


def come_to_rest(shop: Shop) -> None:
    """Wait until no task is open any more."""
    wait_until(lambda: not STATUSES & by_status(shop).keys(), "all tasks are at rest")


def by_status(shop: Shop) -> dict[str, int]:
    found: dict[str, int] = shop.ask("GET", "admin/tasks/stats")["data"]["by_status"]
    return {status: count for status, count in found.items() if count}


def check(shop: Shop, numbers: Counting) -> dict[str, Any]:
    """Compare states, sums and the numbers of products, and return the figures."""
    counts = by_status(shop)
    assert set(counts) <= ENDS, counts
    listed = {status: shop.ask("GET", "admin/tasks", status=status)["pagination"]["total"] for status in ENDS}
    assert {status: count for status, count in listed.items() if count} == counts
    assert sum(counts.values()) == shop.pages
    prices = {name: row["price"] for name, row in shop.products().items()}
    completed = list_all(shop, "completed")
    assert len(completed) == counts.get("completed", 0)
    for task in completed:
        path = "/p/" + task["url"].rpartition("/")[2]
        name = f"Thing {path[3:]}"
        assert prices[name] == numbers.numbers[path], (task["id"], prices[name], numbers.numbers[path])
    return {"states": counts, "requests": sum(numbers.numbers.values()), "compared products": len(completed)}


def list_all(shop: Shop, status: str) -> list[dict[str, Any]]:
    pages = range(1, -(-shop.pages // 100) + 1)
    return [
        row
        for page in pages
        for row in shop.ask("GET", "admin/tasks", status=status, per_page=100, page=page, sort_by="id")["data"]
    ]


async def recounted(place: Place) -> list[str]:
    """Return faults of the rows, recounted without the code under test."""
    looking = Peek(place.settings.database)
    found = await faults(looking, SystemClock().now())
    await looking.close()
    return found


def main() -> None:
    """Run it for a minute on PostgreSQL, or for the seconds of the first argument."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with running_postgres() as server, server.fresh_database() as url, tempfile.TemporaryDirectory() as folder:
        for name, figure in run(Place(Path(folder) / "data", {"database": url}), TASKS, seconds).items():
            print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
