from collections import deque
from urllib.parse import urldefrag, urljoin

import pytest

from tests.web.pages import children_of, depth_of, hrefs, number_of, page, path_of

ORIGIN = "http://site.example"


def links(number: int, pages: int) -> set[str]:
    """Return the targets of the links of a page, without fragments."""
    here = ORIGIN + path_of(number)
    return {urldefrag(urljoin(here, href)).url for href in hrefs(number, pages, ORIGIN)}


@pytest.mark.parametrize("pages", [1, 2, 3, 500, 1234])
def test_every_page_is_reached_and_nothing_else_of_the_open_site(pages):
    depth, queue = {ORIGIN + "/": 0}, deque([0])
    while queue:
        number = queue.popleft()
        for url in sorted(links(number, pages)):
            found = number_of(url.removeprefix(ORIGIN)) if url.startswith(ORIGIN) else None
            if found is not None and url not in depth:
                depth[url] = depth[ORIGIN + path_of(number)] + 1
                queue.append(found)

    assert depth == {ORIGIN + path_of(number): depth_of(number) for number in range(pages)}


def test_links_to_other_targets_than_pages_are_private_off_site_or_not_http():
    others = {url for number in range(500) for url in links(number, 500)} - {ORIGIN + path_of(n) for n in range(500)}
    kinds = {url.split("/")[2] if url.startswith("http") else url.partition(":")[0] for url in others}

    assert kinds == {"site.example", "off-site.example", "mailto", "javascript", "tel", "data"}
    assert {url for url in others if url.startswith(ORIGIN)} == {f"{ORIGIN}/private/{n}" for n in range(5)}


def test_five_hundred_pages_lie_within_six_links():
    assert max(depth_of(number) for number in range(500)) == 6


def test_a_page_is_linked_in_several_spellings():
    written = [href for href in hrefs(0, 500, ORIGIN) if "/page/1" in href]

    assert written == ["/page/1", "/page/1#part-0", f"{ORIGIN}/page/1"]


def test_a_page_has_a_title_some_text_and_always_the_same_bytes():
    body = page(7, 500, ORIGIN)

    assert b"<title>Page 7</title>" in body
    assert 2000 < len(body) < 10000
    assert body == page(7, 500, ORIGIN)
    assert body != page(8, 500, ORIGIN)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/", 0),
        ("/page/7", 7),
        ("/page/0", None),
        ("/page/07", None),
        ("/page/", None),
        ("/page/x", None),
        ("/7", None),
    ],
)
def test_a_page_has_one_path(path, number):
    assert number_of(path) == number


def test_the_last_pages_lead_nowhere_new():
    assert children_of(0, 3) == [1, 2]
    assert children_of(400, 500) == []
