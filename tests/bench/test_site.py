from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from bench import site
from bench.generated import page
from bench.packages import Documentation
from bench.site import ADDRESSES, Site, prepared
from tests.bench.conftest import no_package

PACKAGE = "usr/share/doc/html"


def links(made: Site, address: str, path: str) -> Iterator[str]:
    body = (Path(made.folder) / address / path[1:]).read_bytes()
    for node in LexborHTMLParser(body).css("a[href]"):
        yield urljoin(f"http://{address}{path}", node.attributes["href"] or "")


def reached(made: Site, address: str) -> set[str]:
    """Return paths that are found from the start by following links of this host."""
    found = [made.starts[address]]
    for path in found:
        for link in links(made, address, path):
            parts = urlsplit(link)
            if parts.netloc == address and parts.path not in found:
                found.append(parts.path)
    return set(found)


def test_a_generated_site_is_closed_and_whole(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(site, "unpacked", no_package)
    made = prepared(40)
    assert made.count == 40
    assert "generated" in made.described()
    for address in ADDRESSES:
        assert reached(made, address) == set(made.pages[address])
        assert (cache / "closed-40" / address / "robots.txt").read_text().startswith("User-agent: *")


def test_a_generated_page_is_as_large_as_a_real_one():
    made = [page(0, number, 500) for number in range(0, 500, 50)]
    assert 20_000 < sum(map(len, made)) / len(made) < 40_000
    assert 60 < sum(text.count("<a href") for text in made) / len(made) < 70
    assert len(set(made)) == len(made)


def test_a_site_is_made_once(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(site, "unpacked", no_package)
    steps: list[str] = []
    first = prepared(8, steps.append)
    assert steps
    steps.clear()
    assert prepared(8, steps.append) == first
    assert not steps


@pytest.fixture
def packaged(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site of a package that has links and files of every kind, three pages a host."""
    folder = cache / "packages" / "some-doc"
    pages = {
        "index.html": '<a href="near.html#part">1</a><a href="gone.html">2</a><a href="odd name.html">3</a>'
        '<A HREF=far/one.html>4</a><a href="near.html?q=1">5</a><a href="https://elsewhere.example/x">6</a>'
        '<a rel="nofollow" href="hidden.html">7</a><a href="based.html">8</a><a href="large.html">9</a>',
        "near.html": '<a href="far/two.html">further</a><a href="index.html">back</a>',
        "far/one.html": "<a href='../near.html'>up</a><a href='../gone.html'>nowhere</a>",
        "far/two.html": "too far",
        "odd name.html": "odd",
        "hidden.html": "hidden",
        "based.html": "<base href='http://other.example/'><a href='near.html'>x</a>",
        "large.html": "x" * 600_000,
    }
    for name, body in pages.items():
        file = folder / PACKAGE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body)
    documentation = Documentation("some-doc", PACKAGE, "/index.html")
    monkeypatch.setattr(site, "SITES", (documentation,) * len(ADDRESSES))
    return prepared(3 * len(ADDRESSES))


def test_the_pages_nearest_to_the_start_are_taken(packaged: Site):
    assert set(packaged.pages) == set(ADDRESSES)
    for paths in packaged.pages.values():
        assert paths == ["/far/one.html", "/index.html", "/near.html"]
    assert "real" in packaged.described()


def test_links_that_leave_the_chosen_pages_lead_outside(packaged: Site):
    inside = f"http://{ADDRESSES[0]}"
    first = list(links(packaged, ADDRESSES[0], "/index.html"))
    assert [link for link in first if link.startswith(inside)] == [f"{inside}/near.html#part", f"{inside}/far/one.html"]
    assert "https://elsewhere.example/x" in first
    assert "http://outside.invalid/gone.html" in first
    assert len(first) == 9
    assert list(links(packaged, ADDRESSES[0], "/far/one.html")) == [
        f"{inside}/near.html",
        "http://outside.invalid/gone.html",
    ]
