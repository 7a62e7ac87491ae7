"""A parser for a shop that keeps its data in a script: the generic parser reads it, and the site adds what it knows."""

from collections.abc import Iterator

from longline.parsers.product.product import read
from longline.plugins import Item, Page, parser


@parser("gadgets", match="https://gadgets.example/*")
def gadgets(page: Page) -> Iterator[Item]:
    """Yield the product of a page; the shop names the brand in front of the name, and writes the stock as a number."""
    found = read(page)
    if not found.get("name"):
        return
    brand, _, name = found["name"].partition(" – ")
    stock = page.text("[data-stock]")
    facts = found | ({"brand": brand, "name": name} if name else {})
    if stock.isdecimal():
        facts["availability"] = "in_stock" if int(stock) else "out_of_stock"
    yield Item("product", title=facts["name"], **facts)
