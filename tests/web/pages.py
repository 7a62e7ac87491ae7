"""The graph of pages: page 0 is "/", page i is "/page/i", and page i links to 3i+1, 3i+2 and 3i+3.

So every page is reached from "/", page i in about log3(i) steps, and the site has exactly as many distinct URLs of its
own as it has pages. Every other link is another spelling of one of them, is forbidden by robots.txt (/private/...),
is another site (off-site.example), or is no page at all (mailto:, javascript:, ...).
"""

import random
from functools import lru_cache

VOCABULARY = (
    "line hook harbour tide net anchor current swell keel buoy rope catch deck gull mast reef shoal wake drift haul "
    "bait float sinker swivel knot winch bow stern rudder chart compass lantern fog north dawn salt timber"
)


def path_of(number: int) -> str:
    """Return the path of a page."""
    return f"/page/{number}" if number else "/"


def number_of(path: str) -> int | None:
    """Return the page of a path, if the path is one that a page could have."""
    if path == "/":
        return 0
    digits = path.removeprefix("/page/")
    return int(digits) if path != digits and digits.isascii() and digits.isdigit() and digits[0] != "0" else None


def children_of(number: int, pages: int) -> list[int]:
    """Return the pages that this one is the first to link to."""
    return [child for child in range(3 * number + 1, 3 * number + 4) if child < pages]


def depth_of(number: int) -> int:
    """Return the number of links between "/" and the page."""
    depth = 0
    while number:
        number, depth = (number - 1) // 3, depth + 1
    return depth


def page(number: int, pages: int, origin: str) -> bytes:
    """Return the HTML of a page, the same bytes every time; `origin` is used where a link is written in full."""
    anchors = "\n".join(f'<li><a href="{href}">{href}</a></li>' for href in hrefs(number, pages, origin))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {number}</title></head>\n'
        f"<body><h1>Page {number}</h1>\n{prose(number)}\n<ul>\n{anchors}\n</ul></body></html>\n"
    ).encode()


def hrefs(number: int, pages: int, origin: str) -> list[str]:
    """Return every link of a page as written there."""
    children = [path_of(child) for child in children_of(number, pages)]
    parent = path_of((number - 1) // 3) if number else "/"
    return [
        *children,
        *(f"{child}#part-{number}" for child in children),
        *(f"{origin}{child}" for child in children[:1]),
        *(f"/page/../page/./{child.rpartition('/')[2]}" for child in children[1:2]),
        parent,
        "/",
        f"{parent}#top",
        f"#part-{number}",
        f"/private/{number % 5}",
        f"http://off-site.example/from/{number}",
        "mailto:crew@off-site.example",
        "javascript:void(0)",
        "tel:+15550100",
        "data:text/plain,no%20page",
    ]


@lru_cache(maxsize=4096)
def prose(number: int) -> str:
    """Return a few kilobytes of text that differ from page to page."""
    chosen = random.Random(number)
    paragraphs = (" ".join(chosen.choices(VOCABULARY.split(), k=chosen.randrange(60, 120))) for _ in range(6))
    return "\n".join(f'<p id="part-{at}">{text}.</p>' for at, text in enumerate(paragraphs))
