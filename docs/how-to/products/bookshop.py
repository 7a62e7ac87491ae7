"""A parser for a shop with plain HTML: every field has a place of its own on the page."""

import re
from collections.abc import Iterator

from longline.plugins import Item, Page, parser

CURRENCIES = {"£": "GBP", "€": "EUR", "$": "USD"}
STARS = {"One": 1.0, "Two": 2.0, "Three": 3.0, "Four": 4.0, "Five": 5.0}
PRICE = re.compile(r"([£€$])\s*([0-9]+\.[0-9]{2})")


@parser("bookshop", match="https://books.example/*")
def bookshop(page: Page) -> Iterator[Item]:
    """Yield the book of a page."""
    name, price = page.text("h1"), PRICE.search(page.text(".price"))
    if not name or price is None:
        return
    words = {word for node in page.css(".star-rating") for word in (node.attributes.get("class") or "").split()}
    yield Item(
        "product",
        title=name,
        name=name,
        description=page.text("#description p"),
        price=float(price[2]),
        currency=CURRENCIES[price[1]],
        availability="in_stock" if "In stock" in page.text(".availability") else "out_of_stock",
        rating=next((STARS[word] for word in words if word in STARS), None),
        category=page.text(".breadcrumb li:nth-child(2)"),
        sku=page.text("td.upc"),
        images=list(page.links("a.cover")),
        url=page.url,
    )
