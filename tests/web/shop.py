"""A shop of books: a list over several pages, and a page for each book."""

import re
from pathlib import Path

from tests.web import SiteHandle

BOOKS, PAGES = 100, 5
PER_PAGE = BOOKS // PAGES

MANUAL = Path(__file__).parents[2] / "docs/how-to/items.md"
(PARSER,) = re.findall(r"```python\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
"""The parser of the manual: ten lines of code."""

COLUMNS = ["title", "price", "stock", "tags", "url"]


def title_of(number: int) -> str:
    """Return the title of a book; some have a comma, a quotation mark or a line of their own."""
    return f'Book {number}, the "{number}th"' if number % 10 == 0 else f"Book {number}"


def price_of(number: int) -> float:
    return number + 0.5


def open_shop(site: SiteHandle, prices: dict[int, float] | None = None) -> None:
    """Put the shop on a site; some prices may be others."""
    for page in range(1, PAGES + 1):
        shown = range((page - 1) * PER_PAGE + 1, page * PER_PAGE + 1)
        books = "".join(f'<article class="book"><a href="/book/{n}">{title_of(n)}</a></article>' for n in shown)
        more = f'<li class="next"><a href="/list/{page + 1}">next</a></li>' if page < PAGES else ""
        site.site.extra["/" if page == 1 else f"/list/{page}"] = f"<title>Books</title>{books}{more}".encode()
    for n in range(1, BOOKS + 1):
        site.site.extra[f"/book/{n}"] = book_page(n, (prices or {}).get(n, price_of(n)))


def book_page(number: int, price: float) -> bytes:
    """Return the page of one book."""
    facts = f'<p class="price">£{price:.2f}</p><p class="stock">{number} in stock</p><p class="tags">new n{number}</p>'
    return f'<title>A book</title><h1 class="book">{title_of(number)}</h1>{facts}'.encode()
