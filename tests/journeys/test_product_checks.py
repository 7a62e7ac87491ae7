"""Acceptance checks of product tasks that need a worker; the log of the shop shows its requests."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from longline.drivers.clock import SystemClock
from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from tests.chaos.products import Shop, product_page
from tests.journeys.place import Place, wait_until
from tests.journeys.test_serve import up
from tests.servers import PostgresServer
from tests.servers.postgres import apart
from tests.web import running_site
from tests.web.wire import Answer, Request

DUE_NOW = (
    "UPDATE recrawls SET due_at = 0 WHERE id = {id}",
    "UPDATE tasks SET due = 0 WHERE id = {id}",
    "UPDATE queue SET due = 0 WHERE id = {id}",
    "UPDATE line SET wake_at = 0 WHERE owner IS NULL AND host_id = (SELECT host_id FROM queue WHERE id = {id})",
)
"""Statements that let the time of a retry pass."""


class Market:
    """A shop, and a platform that crawls it; each check has a domain of its own."""

    def __init__(self, place: Place, shop: Shop) -> None:
        self.place, self.shop, self._domains = place, shop, 0

    def domain(self, **more: Any) -> int:
        self._domains += 1
        body = {"domain_name": f"check{self._domains}.example", "base_url": self.shop.site.url.rstrip("/")}
        settings = {"parser_name": "product", "crawl_delay_seconds": 0, "max_concurrent_requests": 10}
        return int(self.shop.ask("POST", "admin/domains", body | settings | more)["data"]["id"])

    def submit(self, domain_id: int, path: str, **more: Any) -> int:
        body = {"domain_id": domain_id, "url": self.shop.site.url.rstrip("/") + path} | more
        return int(self.shop.ask("POST", "admin/tasks", body)["data"]["task_id"])

    def task(self, task_id: int) -> dict[str, Any]:
        found: dict[str, Any] = self.shop.ask("GET", f"admin/tasks/{task_id}")["data"]
        return found

    def move(self, task_id: int, verb: str) -> dict[str, Any]:
        found: dict[str, Any] = self.shop.ask("POST", f"admin/tasks/{task_id}/{verb}")["data"]
        return found

    def wait_for(self, task_id: int, **fields: Any) -> dict[str, Any]:
        """Wait until a task has these fields."""
        wait_until(lambda: fields.items() <= self.task(task_id).items(), f"task {task_id} with {fields}")
        return self.task(task_id)

    def visits(self, path: str) -> int:
        return sum(visit.path == path for visit in list(self.shop.site.site.requests))

    def let_time_pass(self, task_id: int) -> None:
        statements = [statement.format(id=task_id) for statement in DUE_NOW]
        database = self.place.settings.database
        if database.startswith("postgresql:"):
            apart(partial(_execute, database, statements))
            return
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"), timeout=30)) as connection, connection:
            for statement in statements:
                connection.execute(statement)


async def _execute(url: str, statements: list[str]) -> None:
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        for statement in statements:
            await connection.execute(statement)
    await connection.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """A running platform on each engine, for all checks."""
    folder: Path = tmp_path_factory.mktemp("market")
    if request.param == "sqlite":
        yield from opened(Place(folder / "platform" / "data"))
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        yield from opened(Place(folder / "platform" / "data", {"database": url}))


def opened(place: Place) -> Iterator[Market]:
    with (
        running_site(pages=0) as site,
        up(place, LONGLINE_POLL="1s") as platform,
        httpx.Client(base_url=platform.where, timeout=60) as client,
    ):
        yield Market(place, Shop(site, client, 0))


def test_check_3_failures_wait_one_two_and_four_minutes_and_the_fourth_is_the_end(market: Market):
    market.shop.site.site.extra["/c3"] = Answer(503, b"busy")
    task_id = market.submit(market.domain(), "/c3")
    for failures, minutes in ((1, 1), (2, 2), (3, 4)):
        found = market.wait_for(task_id, retry_count=failures, status="pending")
        waited = market.place.value(f"SELECT due_at - updated_at FROM recrawls WHERE id = {task_id}")
        assert abs(minutes * 60_000 - waited) < 30_000, "from the failure on, which was about the time of the report"
        assert found["completed_at"] is None
        assert "503" in found["error_message"]
        assert market.visits("/c3") == failures
        market.let_time_pass(task_id)
    found = market.wait_for(task_id, status="failed")
    assert (found["retry_count"], market.visits("/c3")) == (3, 4)
    assert found["completed_at"] is not None


@pytest.mark.parametrize(("status", "visits"), [(404, 1), (410, 1)])
def test_a_page_that_is_gone_fails_at_once(market: Market, status: int, visits: int):
    market.shop.site.site.extra[f"/gone/{status}"] = Answer(status, b"gone")
    task_id = market.submit(market.domain(), f"/gone/{status}")
    found = market.wait_for(task_id, status="failed")
    assert (found["http_status_code"], found["retry_count"]) == (status, 0)
    assert market.visits(f"/gone/{status}") == visits


def test_check_1_an_urgent_task_goes_before_those_that_a_worker_has_claimed(market: Market):
    site, domain_id = market.shop.site.site, market.domain(max_concurrent_requests=1)
    market.wait_for(market.submit(domain_id, "/warm"), status="failed")
    site.held_after = len(site.requests)
    market.submit(domain_id, "/ahead", is_recurring=False)
    wait_until(lambda: market.visits("/ahead") == 1, "the request before them")
    tasks = [market.submit(domain_id, f"/order/{priority}", priority=priority) for priority in (10, 5, 1)]
    wait_until(lambda: market.task(tasks[0])["status"] == "crawling", "the claim of the least urgent")
    # A claim after the release would order the others by its own time.
    held = [p for p, task_id in zip((10, 5, 1), tasks, strict=True) if market.task(task_id)["status"] == "crawling"]
    site.held_after = None
    for task_id in tasks:
        market.wait_for(task_id, status="failed")
    order = [int(visit.path.split("/")[-1]) for visit in site.requests if visit.path.startswith("/order/")]
    assert [priority for priority in order if priority in held] == sorted(held)


def test_check_6_two_restarts_in_a_row_are_one_run(market: Market):
    market.shop.site.site.extra["/c6"] = product_page(6, 6.5)
    domain_id = market.domain()
    task_id = market.submit(domain_id, "/c6", is_recurring=False)
    market.wait_for(task_id, status="completed")
    market.shop.ask("POST", f"admin/domains/{domain_id}/disable")
    for _ in range(2):
        assert market.move(task_id, "restart")["status"] == "pending"
    market.shop.ask("POST", f"admin/domains/{domain_id}/enable")
    market.wait_for(task_id, status="completed")
    beside = market.submit(domain_id, "/none", is_recurring=False, priority=10)
    market.wait_for(beside, status="failed")
    assert market.visits("/c6") == 2, "one request by the first crawl, and one for both restarts"


def test_check_6_the_result_of_a_worker_from_before_a_restart_is_discarded(market: Market):
    site = market.shop.site.site

    def numbered(request: Request) -> Answer:
        """Return the number of the request among those of its page: the last one of its connection so far."""
        ports = [visit.port for visit in site.requests if visit.path == request.path]
        return Answer(body=product_page(66, len(ports) - ports[::-1].index(request.port)))

    site.extra["/c66"] = numbered
    domain_id = market.domain()
    market.wait_for(market.submit(domain_id, "/first"), status="failed")
    site.held_after = len(site.requests)
    task_id = market.submit(domain_id, "/c66", is_recurring=False)
    wait_until(lambda: market.visits("/c66") == 1, "the first request")
    assert market.task(task_id)["status"] == "crawling"
    market.move(task_id, "restart")
    wait_until(lambda: market.visits("/c66") == 2, "the request after the restart")
    site.held_after = None
    market.wait_for(task_id, status="completed")
    [product] = market.shop.ask("GET", "products/search", q='"Thing 66"')["data"]
    assert product["price"] == market.visits("/c66"), "the product is that of the last attempt"
    # A fetch may be repeated, its effect may not.
    assert market.visits("/c66") in (2, 3)


def test_check_7_parsing_again_takes_the_stored_page(market: Market):
    market.shop.site.site.extra["/c7"] = product_page(7, 7.5)
    task_id = market.submit(market.domain(), "/c7", is_recurring=False)
    market.wait_for(task_id, status="completed")
    told = market.move(task_id, "restart-parsing")
    assert told == {"task_id": task_id, "status": "downloaded", "html_path": f"{task_id}/page.html"}
    market.wait_for(task_id, status="completed")
    assert market.visits("/c7") == 1, "no new download"
    waiting = market.submit(market.domain(), "/later", scheduled_at="2999-01-01T00:00:00Z")
    answer = market.shop.client.post(f"/api/admin/tasks/{waiting}/restart-parsing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "HTML_NOT_AVAILABLE")


def test_check_8_a_task_that_is_paused_in_the_queue_is_dropped_and_goes_on_with_its_retries(market: Market):
    site = market.shop.site.site
    site.extra["/c8"] = Answer(503, b"busy")
    task_id = market.submit(market.domain(), "/c8")
    market.wait_for(task_id, retry_count=1, status="pending")
    assert market.move(task_id, "pause")["status"] == "paused"
    market.let_time_pass(task_id)
    site.extra["/c8"] = product_page(8, 8.5)
    site.extra["/beside"] = product_page(9, 9.5)
    beside = market.submit(market.domain(), "/beside", is_recurring=False)
    market.wait_for(beside, status="completed")
    assert (market.task(task_id)["status"], market.visits("/c8")) == ("paused", 1), (
        "a worker has dropped the paused task"
    )
    market.move(task_id, "resume")
    assert market.task(task_id)["retry_count"] in (0, 1), "1 until its page has arrived, which begins a new phase"
    market.wait_for(task_id, status="completed")
    assert market.visits("/c8") == 2


def test_without_a_usable_proxy_a_task_fails_as_after_any_failure(market: Market):
    domain_id = market.domain()
    proxy = market.shop.ask("POST", "admin/proxies", {"proxy_url": "127.0.0.1", "proxy_port": 9})["data"]["id"]
    try:
        market.shop.ask("POST", f"admin/domains/{domain_id}/proxies", {"proxy_ids": [proxy]})
        market.shop.ask("POST", f"admin/domains/{domain_id}/proxies/{proxy}/disable")
        task_id = market.submit(domain_id, "/behind", max_retries=0)
        found = market.wait_for(task_id, status="failed")
        assert found["error_message"].startswith("NO_PROXIES_AVAILABLE")
        assert market.visits("/behind") == 0, "a domain with mappings has no fallback"
    finally:
        # Domains without mappings would use the proxy.
        market.shop.ask("DELETE", f"admin/proxies/{proxy}")


def test_check_2_a_domain_that_another_api_switches_off_is_left_alone_until_it_is_on(market: Market):
    domain = market.domain()
    market.shop.site.site.extra["/off"] = product_page(2, 1.0)
    task = market.submit(domain, "/off", scheduled_at="2099-01-01T00:00:00Z")
    source = f"/api/v1/sources/{market.place.value(f'SELECT uid FROM sources WHERE id = {domain}')}"
    token = Tokens(jwt_secret(market.place.settings), SystemClock().now).issue("admin", "me", 10**6)
    headers = {"Authorization": f"Bearer {token}"}
    assert market.shop.client.patch(f"{source}/disable", headers=headers).status_code == 200
    held = "SELECT COUNT(*) FROM holds d JOIN runs u ON u.id = d.run_id WHERE u.source_id = {}"
    wait_until(lambda: market.place.value(held.format(domain)) == 1, "the hold of the switch")
    assert market.move(task, "restart")["status"] == "pending"
    assert market.shop.client.patch(f"{source}/enable", headers=headers).status_code == 200
    visits = market.visits("/off")
    market.wait_for(task, status="completed")
    assert (visits, market.visits("/off")) == (0, 1)
