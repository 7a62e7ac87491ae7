"""Pages of products yield children, which are crawled below them, and images, which are stored as objects."""

import struct
import time
from pathlib import Path
from typing import Any

import httpx

from tests.chaos.products import PARSER, Shop, opened
from tests.journeys.place import PATIENCE, Place
from tests.web import running_site
from tests.web.wire import Answer

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + bytes(1000)
CHAIN = 6
CHILDREN = """
    number = int(page.url.rpartition("/")[2])
    yield Child(page.url.replace(f"/p/{number}", f"/p/{number + 1}"))
    yield Child("https://elsewhere.example/p/1")
"""


def page(number: int) -> bytes:
    offer = '{"@type": "Offer", "price": "1.50", "priceCurrency": "EUR"}'
    images = f'["/i/{number}.png", "/i/none.png"]'
    thing = f'{{"@type": "Product", "name": "Thing {number}", "image": {images}, "offers": {offer}}}'
    return f'<title>x</title><script type="application/ld+json">{thing}</script>'.encode()


def wait_for(client: httpx.Client, path: str, fits: Any) -> Any:
    until = time.monotonic() + PATIENCE
    while not fits(found := client.get(f"/api/{path}").json()["data"]):
        assert time.monotonic() < until, found
        time.sleep(0.1)
    return found


def test_children_are_crawled_to_the_third_depth_and_images_are_stored(tmp_path: Path):
    parser = PARSER.replace("import Item,", "import Child, Item,").replace("SUFFIX", "") + CHILDREN
    with running_site(pages=0) as site, opened(Place(tmp_path / "data"), text=parser) as client:
        for number in range(CHAIN):
            site.site.extra[f"/p/{number}"] = page(number)
            site.site.extra[f"/i/{number}.png"] = Answer(body=PNG, content_type="image/png")
        shop = Shop(site, client, 0)
        base = site.url.rstrip("/")
        body = {"domain_name": "127.0.0.1", "base_url": base, "parser_name": "shop", "crawl_delay_seconds": 0}
        domain = shop.ask("POST", "admin/domains", body | {"store_images": True})["data"]["id"]
        first = shop.ask("POST", "admin/tasks", {"domain_id": domain, "url": f"{base}/p/0", "priority": 2})["data"]
        tasks = wait_for(client, "admin/tasks?sort_by=id&sort_order=asc", lambda rows: _ended(rows) == 4)
        assert [row["url"] for row in tasks] == [f"{base}/p/{number}" for number in range(4)], "three below the first"
        assert [row["parent_task_id"] for row in tasks] == [None, *(row["id"] for row in tasks[:3])]
        assert {(row["priority"], row["created_by"]) for row in tasks[1:]} == {(2, "system")}
        assert tasks[0]["id"] == first["task_id"]
        products = shop.ask("GET", "products", sort_by="created_at", sort_order="asc")["data"]
        detail = wait_for(client, f"products/{products[0]['id']}", lambda found: found["images"][0]["image_path"])
    stored, missing = detail["images"]
    assert (stored["width"], stored["height"], stored["file_size"]) == (640, 480, len(PNG))
    assert (stored["image_type"], stored["position"], stored["image_url"]) == ("primary", 0, f"{base}/i/0.png")
    assert (missing["image_type"], missing["image_path"], missing["width"]) == ("gallery", None, None)
    [kept] = (tmp_path / "data").rglob(stored["image_path"])
    assert kept.read_bytes() == PNG


def _ended(rows: list[dict[str, Any]]) -> int:
    return sum(row["status"] == "completed" for row in rows)
