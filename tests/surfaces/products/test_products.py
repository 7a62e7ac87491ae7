"""Products over HTTP, from the text of the contract (§2.5, §9.1)."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from longline.drivers.records.search import index
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.search.item import Origin, new_items
from tests.surfaces.products.running import Door, Json, error, running

KETTLE: Json = {
    "title": "Kettle",
    "name": "Kettle",
    "description": "Boils water in a minute.",
    "price": 19.99,
    "currency": "EUR",
    "availability": "in_stock",
    "rating": 4.5,
    "review_count": 120,
    "brand": "Acme",
    "category": "Kitchen",
    "sku": "K-1",
    "gtin": "0123456789012",
    "images": ["https://shop.example/1.jpg", "https://shop.example/2.jpg"],
    "url": "https://shop.example/p/1",
}


async def put(door: Door, *products: Json, domain: Json | None = None) -> Json:
    """Store products of one crawl, indexed at once, and return their domain."""
    domain = domain or await door.domain()
    platform = door.platform

    async def work() -> None:
        run = await platform.records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", source_id=domain["id"]))
        for number, fields in enumerate(products, 1):
            origin = Origin(run.id, number, fields["url"])
            await platform.records.items.put(new_items([("product", fields)], origin, in_words=True))
        await platform.indexer.once()

    door.call(work())
    return domain


async def test_a_product_is_shown_with_images_metadata_and_prices(door: Door):
    domain = await put(door, KETTLE)
    rows, pages = await door.list("products")
    assert pages["total"] == 1
    [row] = rows
    shown = await door.get(f"products/{row['id']}")
    assert {name: shown[name] for name in row} == row
    assert row["domain_id"] == domain["id"]
    for ours, theirs in (("name", "product_name"), ("description", "description"), ("price", "price")):
        assert row[theirs] == KETTLE[ours]
    for name in ("currency", "availability", "rating", "review_count", "brand", "category", "sku", "url"):
        assert row[name] == KETTLE[name]
    assert row["content_hash"] == hashlib.sha256(b"Kettle19.99Boils water in a minute.in_stock").hexdigest()
    assert row["url_hash"] == hashlib.sha256(KETTLE["url"].encode()).hexdigest()
    assert [(image["image_url"], image["image_type"], image["position"]) for image in shown["images"]] == [
        ("https://shop.example/1.jpg", "primary", 0),
        ("https://shop.example/2.jpg", "gallery", 1),
    ]
    columns = "id product_id image_url image_path alt_text image_type position width height file_size created_at"
    assert all(set(image) == set(columns.split()) for image in shown["images"])
    assert {image["product_id"] for image in shown["images"]} == {row["id"]}
    assert len({image["id"] for image in shown["images"]}) == 2
    assert shown["metadata"] == {"gtin": "0123456789012"}
    assert [price["price"] for price in shown["price_history"]] == [19.99]


async def test_a_product_without_a_currency_has_dollars(door: Door):
    await put(door, {name: value for name, value in KETTLE.items() if name != "currency"})
    assert (await door.list("products"))[0][0]["currency"] == "USD"


async def test_a_name_is_shown_up_to_its_largest_length(door: Door):
    """§2.5: product_name has at most 512 characters."""
    await put(
        door, *(KETTLE | {"title": "é" * n, "name": "é" * n, "url": f"https://shop.example/{n}"} for n in (512, 513))
    )
    rows = (await door.list("products"))[0]
    assert [row["product_name"] for row in rows] == ["é" * 512] * 2
    for row in rows:
        assert (await door.get(f"products/{row['id']}"))["product_name"] == "é" * 512


async def test_acceptance_17_unchanged_content_leaves_the_product_alone(door: Door):
    domain = await put(door, KETTLE)
    before = (await door.list("products"))[0]
    await put(door, KETTLE | {"rating": 4.4, "review_count": 121}, domain=domain)
    assert (await door.list("products"))[0] == before


async def test_another_price_is_an_update_with_a_history(door: Door):
    domain = await put(door, KETTLE)
    before = (await door.list("products"))[0][0]
    await put(door, KETTLE | {"price": 17.5}, domain=domain)
    await put(door, KETTLE | {"price": 17.5, "description": "Boils water."}, domain=domain)
    after = await door.get(f"products/{before['id']}")
    assert (after["price"], after["created_at"]) == (17.5, before["created_at"])
    assert after["updated_at"] > before["updated_at"]
    assert after["content_hash"] != before["content_hash"]
    # The third version has another description and the same price.
    assert [price["price"] for price in after["price_history"]] == [17.5, 19.99]


def shelf() -> list[Json]:
    """Make products that differ in every field with a filter."""
    return [
        {
            "title": f"Thing {n}",
            "name": f"Thing {n}",
            "description": "Red kettle" if n == 3 else "Blue lamp",
            "price": 10.0 * n,
            "availability": "in_stock" if n % 2 else "out_of_stock",
            "rating": float(n),
            "brand": f"B{n % 3}",
            "category": f"C{n % 2}",
            "url": f"https://shop.example/p/{n}",
        }
        for n in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"sort_by": "price", "sort_order": "asc"}, [1, 2, 3, 4, 5]),
        ({"sort_by": "rating"}, [5, 4, 3, 2, 1]),
        ({"sort_by": "updated_at", "sort_order": "asc"}, [1, 2, 3, 4, 5]),
        ({"price_min": 20, "price_max": 40}, [4, 3, 2]),
        ({"price_min": 20.01}, [5, 4, 3]),
        ({"availability": "out_of_stock"}, [4, 2]),
        ({"brand": "B1"}, [4, 1]),
        ({"category": "C0"}, [4, 2]),
        ({"rating_min": 4}, [5, 4]),
        ({"category": "C1", "rating_min": 2, "sort_by": "price"}, [5, 3]),
        ({"per_page": 2, "page": 2}, [3, 2]),
    ],
)
async def test_lists_filter_sort_and_page(door: Door, asked: Json, numbers: list[int]):
    await put(door, *shelf())
    rows, _ = await door.list("products", **asked)
    assert [row["product_name"] for row in rows] == [f"Thing {n}" for n in numbers]


async def test_a_list_may_be_of_one_domain(door: Door):
    first = await put(door, KETTLE)
    second = await put(door, KETTLE, domain=await door.domain("other.example"))
    assert (await door.list("products"))[1]["total"] == 2
    for domain in (first, second):
        rows, _ = await door.list("products", domain_id=domain["id"])
        assert [row["domain_id"] for row in rows] == [domain["id"]]


async def test_words_are_searched_with_filters(door: Door):
    await put(door, *shelf(), KETTLE)
    found = {row["product_name"] for row in (await door.list("products/search", q="kettle"))[0]}
    assert found == {"Kettle", "Thing 3"}
    assert [row["product_name"] for row in (await door.list("products/search", q="kettle", brand="Acme"))[0]] == [
        "Kettle"
    ]
    assert (await door.list("products/search", q="kettle", price_max=1))[1]["total"] == 0
    assert error(await door.ask("GET", "products/search"))[:2] == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("sort_by", "size", "INVALID_SORT_FIELD"),
        ("sort_order", "up", "VALIDATION_ERROR"),
        ("price_min", "cheap", "VALIDATION_ERROR"),
        ("availability", "soon", "VALIDATION_ERROR"),
        ("domain_id", "shop", "VALIDATION_ERROR"),
        ("per_page", 101, "VALIDATION_ERROR"),
    ],
)
async def test_a_wrong_filter_is_told(door: Door, name: str, value: Any, code: str):
    assert error(await door.ask("GET", "products", **{name: value}))[:2] == (400, code)


async def test_an_item_of_another_kind_is_no_product(door: Door):
    domain = await door.domain()
    platform = door.platform

    async def work() -> int:
        run = await platform.records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", source_id=domain["id"]))
        origin = Origin(run.id, 1, "https://shop.example/news")
        await platform.records.items.put(new_items([("article", {"title": "News", "raw_text": "Old"})], origin))
        await platform.indexer.once()
        return (await platform.records.items.of_run(run.id))[0].id

    article = door.call(work())
    assert (await door.list("products"))[1]["total"] == 0
    told = error(await door.ask("GET", f"products/{article}"))
    assert told == (404, "PRODUCT_NOT_FOUND", f"Product with ID {article} not found")


async def test_a_bounded_total_of_a_search_is_marked(door: Door, monkeypatch: pytest.MonkeyPatch):
    await put(door, *(KETTLE | {"url": f"https://shop.example/p/{number}"} for number in range(3)))
    monkeypatch.setattr(index, "MAX_RANKED", 2)
    place = (await door.ask("GET", "products/search", q="kettle", per_page=1)).json()["pagination"]
    is_bounded = door.stage.settings.database.startswith("postgresql")
    assert (place["total"], place.get("total_is_bounded", False)) == ((2, True) if is_bounded else (3, False))


async def test_a_search_that_cannot_answer_is_told(tmp_path: Path):
    async with running(tmp_path, search=("http://127.0.0.1:1",)) as door:
        assert error(await door.ask("GET", "products/search", q="x"))[:2] == (500, "ELASTICSEARCH_ERROR")


async def test_beyond_loopback_a_key_is_required_unless_the_door_is_open_by_name(tmp_path: Path):
    for access, status in (("auto", 401), ("open", 404)):
        async with running(tmp_path / access, host="0.0.0.0", products_access=access) as door:
            answer = await door.client.get(door.stage.address.replace("0.0.0.0", "127.0.0.1") + "/api/products/99")
            assert answer.status_code == status, (access, answer.text)
