"""A shop behind five proxies, two of which die: every product is found, and 10 % changed prices exactly.

`python -m tests.chaos.products` runs it with 300 pages on SQLite and on PostgreSQL; the suite with fewer. Every figure
is compared with the log of the shop, which has all requests; the rows of products that stayed the same are compared
byte for byte, without longline's code.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx

from longline.model.proxies.proxy import SKIP_AFTER_FAILURES
from tests.journeys.place import Place
from tests.journeys.test_serve import up
from tests.servers import running_postgres
from tests.servers.proxies import Manners, RunningProxy, running_proxy
from tests.web import SiteHandle, running_site

PAGES, CHANGED_SHARE, PATIENCE_SECONDS = 300, 10, 300.0
CONCURRENCY, ROTATED = 5, 500
HOME = "127.0.0.1"

MANNERS = (Manners(), Manners(dies_at=3), Manners(dies_at=5), Manners(), Manners())

PARSER = """
from longline.parsers.product.product import read
from longline.plugins import Item, Page, parser


@parser("shop", match=())
def shop(page: Page):
    found = read(page)
    name = found["name"]SUFFIX
    yield Item("product", title=name, **found | {"name": name})
"""
MISTAKE = ' + "!"'
"""The mistake of the parser, in the place of `SUFFIX`."""


def price_of(number: int) -> float:
    return number + 0.5


def product_page(number: int, price: float) -> bytes:
    offer = {"@type": "Offer", "price": f"{price:.2f}", "priceCurrency": "EUR", "availability": "InStock"}
    thing = {"@context": "https://schema.org", "@type": "Product", "name": f"Thing {number}", "offers": offer}
    return f'<title>x</title><script type="application/ld+json">{json.dumps(thing)}</script>'.encode()


@dataclass
class Report:
    """The figures of the journey."""

    pages: int
    figures: dict[str, Any] = field(default_factory=dict)


class Shop:
    """The shop, and the API of its products."""

    def __init__(self, site: SiteHandle, client: httpx.Client, pages: int) -> None:
        self.site, self.client, self.pages = site, client, pages
        for number in range(pages):
            self.price(number, price_of(number))

    def price(self, number: int, price: float) -> None:
        self.site.site.extra[f"/p/{number}"] = product_page(number, price)

    def ask(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        answer = self.client.request(method, f"/api/{path}", json=body, params=params)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def wait_for(self, status: str, count: int) -> None:
        """Wait until so many tasks have this status."""
        until = time.monotonic() + PATIENCE_SECONDS
        while (found := self.ask("GET", "admin/stats")["data"]["tasks"]["by_status"])[status] != count:
            assert time.monotonic() < until, found
            time.sleep(0.2)

    def products(self) -> dict[str, dict[str, Any]]:
        """Return all products by name."""
        found: dict[str, dict[str, Any]] = {}
        for page in range(1, -(-self.pages // 100) + 1):
            for row in self.ask("GET", "products", per_page=100, page=page)["data"]:
                found[row["product_name"]] = row
        return found

    def tasks(self) -> list[dict[str, Any]]:
        """Return all tasks, in the order of their ids."""
        asked = {"per_page": 100, "sort_by": "id", "sort_order": "asc"}
        pages = range(1, -(-self.pages // 100) + 1)
        return [row for page in pages for row in self.ask("GET", "admin/tasks", page=page, **asked)["data"]]

    def task_ids(self) -> list[int]:
        return [row["id"] for row in self.tasks()]

    def visits(self) -> int:
        return sum(count for path, count in self.site.visits().items() if path.startswith("/p/"))


@contextmanager
def opened(place: Place, *more: str, suffix: str = "", text: str = PARSER) -> Iterator[httpx.Client]:
    """Yield a client of a platform with a parser of the shop."""
    folder = place.data.parent
    folder.mkdir(exist_ok=True)
    parser = folder / "shop.py"
    parser.write_text(text.replace("SUFFIX", suffix))
    with (
        up(place, "--parsers", str(parser), *more) as platform,
        httpx.Client(base_url=platform.where, timeout=60) as client,
    ):
        yield client


def run(place: Place, pages: int = PAGES) -> Report:
    """Crawl the shop with a faulty parser, parse its pages again with a good one, change prices, and crawl again."""
    report = Report(pages)
    with ExitStack() as stack:
        proxies = [stack.enter_context(running_proxy("http", each)) for each in MANNERS]
        site = stack.enter_context(running_site(pages=0))
        with opened(place, suffix=MISTAKE) as client:
            shop = Shop(site, client, pages)
            domain = prepare(shop, proxies)
            first_crawl(shop, domain, proxies, report)
        with opened(place) as client:
            shop.client = client
            parse_again(shop, report)
            before = stored(place)
            second_crawl(shop, report)
            report.figures["rows that stayed the same, byte for byte"] = same_rows(before, stored(place), pages)
    return report


def stored(place: Place) -> dict[str, dict[Any, tuple[Any, ...]]]:
    """Return the rows of all products and of their former versions, as they are stored."""
    items = place.ask("SELECT i.id, i.title, i.* FROM items i WHERE i.kind = 'product'")
    versions = place.ask("SELECT v.item_id, v.version, v.* FROM item_versions v")
    return {"items": {row[0]: row for row in items}, "versions": {row[:2]: row for row in versions}}


def same_rows(before: dict[str, Any], after: dict[str, Any], pages: int) -> int:
    """Compare the rows from before a crawl in which some prices changed; return the number of unchanged products."""
    were, are = before["items"], after["items"]
    assert were.keys() == are.keys()
    changed = {item_id for item_id, row in were.items() if are[item_id] != row}
    assert {were[item_id][1] for item_id in changed} == {f"Thing {n}" for n in range(0, pages, CHANGED_SHARE)}
    added = {key: row for key, row in after["versions"].items() if key not in before["versions"]}
    assert {key: after["versions"][key] for key in before["versions"]} == before["versions"]
    assert sorted(item_id for item_id, _ in added) == sorted(changed), "one former version for each change"
    return len(were) - len(changed)


def rotate(place: Place, requests: int) -> list[int]:
    """Fetch pages through five proxies with two workers, one request at a time; the proxies in the order of use."""
    with ExitStack() as stack:
        proxies = [stack.enter_context(running_proxy()) for _ in range(5)]
        site = stack.enter_context(running_site(pages=0))
        client = stack.enter_context(opened(place, "--workers", "2"))
        shop = Shop(site, client, requests)
        domain = prepare(shop, proxies, concurrency=1)
        submit(shop, domain)
        shop.wait_for("completed", requests)
        passages = sorted((one.at, number) for number, proxy in enumerate(proxies) for one in proxy.passages)
    return [number for _, number in passages]


def prepare(shop: Shop, proxies: list[RunningProxy], concurrency: int = CONCURRENCY) -> int:
    """Register the shop and its proxies, and return the id of its domain."""
    base = shop.site.url.rstrip("/")
    body = {"domain_name": HOME, "base_url": base, "parser_name": "shop", "crawl_delay_seconds": 0}
    domain = int(shop.ask("POST", "admin/domains", body | {"max_concurrent_requests": concurrency})["data"]["id"])
    ids = [
        shop.ask("POST", "admin/proxies", {"proxy_url": "127.0.0.1", "proxy_port": proxy.port})["data"]["id"]
        for proxy in proxies
    ]
    shop.ask("POST", f"admin/domains/{domain}/proxies", {"proxy_ids": ids})
    # The daily look at robots.txt is then over: its request would go by a proxy between two pages.
    shop.ask("POST", f"admin/domains/{domain}/refresh-robots", {})
    return domain


def submit(shop: Shop, domain: int) -> None:
    """Submit all pages of the shop."""
    base = shop.site.url.rstrip("/")
    urls = [f"{base}/p/{number}" for number in range(shop.pages)]
    batch = shop.ask("POST", "admin/tasks/batch", {"domain_id": domain, "urls": urls})["data"]
    assert batch["total_submitted"] == shop.pages


def parse_again(shop: Shop, report: Report) -> None:
    """Parse all pages again with the mended parser; the shop sees no request."""
    visits = shop.visits()
    for task_id in shop.task_ids():
        shop.ask("POST", f"admin/tasks/{task_id}/restart-parsing", {})
    shop.wait_for("completed", shop.pages)
    assert set(shop.products()) == {f"Thing {number}" for number in range(shop.pages)}
    assert shop.visits() == visits
    report.figures["requests of the second parse"] = shop.visits() - visits


def first_crawl(shop: Shop, domain: int, proxies: list[RunningProxy], report: Report) -> None:
    submit(shop, domain)
    shop.wait_for("completed", shop.pages)
    found = shop.products()
    assert {name: row["price"] for name, row in found.items()} == {
        f"Thing {number}!": price_of(number) for number in range(shop.pages)
    }
    rows = shop.ask("GET", f"admin/domains/{domain}/proxies", sort_by="created_at", sort_order="asc")["data"]
    dead = [rows[1], rows[2]]
    assert [row["is_active"] for row in rows] == [True, False, False, True, True]
    # Requests that were dealt before the fifth failure was known may fail too.
    assert all(SKIP_AFTER_FAILURES <= row["failure_count"] < SKIP_AFTER_FAILURES + CONCURRENCY for row in dead)
    tasks = shop.tasks()
    assert len(tasks) == shop.pages
    assert {task["status"] for task in tasks} == {"completed"}
    assert {task["retry_count"] for task in tasks} == {0}, "no page is charged for the fault of a proxy"
    report.figures |= {
        "products": len(found),
        "visits of the first crawl": shop.visits(),
        "requests by proxy": [proxy.asked for proxy in proxies],
    }


def second_crawl(shop: Shop, report: Report) -> None:
    """Change some prices, and crawl all pages again."""
    before, visits = shop.products(), shop.visits()
    changed = range(0, shop.pages, CHANGED_SHARE)
    for number in changed:
        shop.price(number, price_of(number) + 100)
    for task_id in shop.task_ids():
        shop.ask("POST", f"admin/tasks/{task_id}/restart", {})
    shop.wait_for("completed", shop.pages)
    after = shop.products()
    names = {f"Thing {number}" for number in changed}
    assert {name for name in after if after[name] != before[name]} == names
    for name in names:
        detail = shop.ask("GET", f"products/{after[name]['id']}")["data"]
        assert [one["price"] for one in detail["price_history"]] == [after[name]["price"], before[name]["price"]]
    assert shop.visits() == visits + shop.pages
    report.figures["changed products"] = len(names)


def is_strict(order: list[int]) -> bool:
    """Return true if five proxies took turns, each again after all others."""
    return all(later == (earlier + 1) % 5 for earlier, later in pairwise(order))


def large(places: Sequence[Place], pages: int) -> dict[str, Any]:
    """Run the journey and the rotation; the figures."""
    report, order = run(places[0], pages), rotate(places[1], ROTATED)
    assert is_strict(order), order
    return report.figures | {"requests in strict rotation": len(order)}


def main() -> None:
    """Run the journey on both engines, with the number of pages of the first argument."""
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        server = stack.enter_context(running_postgres())
        urls = [stack.enter_context(server.fresh_database()) for _ in range(2)]
        engines: dict[str, list[dict[str, str]]] = {
            "SQLite": [{}] * 2,
            "PostgreSQL": [{"database": url} for url in urls],
        }
        for engine, given in engines.items():
            begun, folder = time.monotonic(), Path(name) / engine
            folder.mkdir()
            figures = large([Place(folder / str(n) / "data", one) for n, one in enumerate(given)], pages)
            print(f"{engine}: {figures} in {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
