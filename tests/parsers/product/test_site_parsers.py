"""The two worked parsers of the manual, on pages of their shops."""

import importlib.util
import json
from pathlib import Path
from typing import Any

from longline.plugins import Item
from longline.testing import page, parsed
from tests.house.tree import ROOT

BOOK = """<html><head><title>x</title></head><body><ul class="breadcrumb"><li>Home</li><li>Travel</li></ul>
<h1>Sea Lines</h1><p class="price">£51.77</p><p class="star-rating Three"></p><p class="availability">In stock (22)</p>
<a class="cover" href="/media/1.jpg"></a><div id="description"><p>A voyage.</p></div>
<table><tr><td class="upc">a897fe39</td></tr></table></body></html>"""

THING = {
    "@type": "Product",
    "name": "Acme – Kettle 2",
    "sku": "K2",
    "offers": {"price": "19.99", "priceCurrency": "EUR"},
}
GADGET = f"""<html><head><title>x</title><script type="application/ld+json">{json.dumps(THING)}</script></head>
<body><b data-stock>STOCK</b></body></html>"""


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/how-to/products/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


async def fields(name: str, html: str, folder: Path) -> dict[str, Any]:
    (folder / "page.html").write_text(html, encoding="utf-8")
    made = await parsed(load(name), page(folder / "page.html", f"https://{name}.example/p/1"))
    [item] = made
    assert isinstance(item, Item)
    assert item.kind == "product"
    return dict(item.fields)


async def test_the_bookshop(tmp_path: Path):
    assert await fields("bookshop", BOOK, tmp_path) == {
        "title": "Sea Lines",
        "name": "Sea Lines",
        "description": "A voyage.",
        "price": 51.77,
        "currency": "GBP",
        "availability": "in_stock",
        "rating": 3.0,
        "category": "Travel",
        "sku": "a897fe39",
        "images": ["https://bookshop.example/media/1.jpg"],
        "url": "https://bookshop.example/p/1",
    }


async def test_the_gadgets(tmp_path: Path):
    found = await fields("gadgets", GADGET.replace("STOCK", "7"), tmp_path)
    assert (found["brand"], found["name"], found["price"], found["currency"]) == ("Acme", "Kettle 2", 19.99, "EUR")
    assert (found["availability"], found["sku"]) == ("in_stock", "K2")
    assert (await fields("gadgets", GADGET.replace("STOCK", "0"), tmp_path))["availability"] == "out_of_stock"


async def test_a_page_without_a_product_has_none(tmp_path: Path):
    (tmp_path / "page.html").write_text("<html><body><h1>About us</h1></body></html>", encoding="utf-8")
    for name in ("bookshop", "gadgets"):
        assert list(await parsed(load(name), page(tmp_path / "page.html", f"https://{name}.example/about"))) == []
