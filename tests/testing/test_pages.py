"""Pages that are read from files."""

from pathlib import Path

import pytest

from longline.plugins import Item, Link, Page, parser
from longline.testing import page, parsed


@pytest.fixture
def story(tmp_path: Path) -> Path:
    file = tmp_path / "story.html"
    file.write_text("<title>Hooks</title><a href=more>more</a>")
    return file


def test_a_file_is_a_page_at_a_url(story: Path):
    got = page(story, "https://a.test/x/", config={"parser": "mine"})
    assert (got.title, got.links(), got.content_type) == ("Hooks", ["https://a.test/x/more"], "text/html")
    assert got.config == {"parser": "mine"}


def test_the_content_type_follows_the_file_name(tmp_path: Path):
    file = tmp_path / "list.xml"
    file.write_text("<urlset/>")
    assert page(file).content_type in ("application/xml", "text/xml")
    assert page(file, content_type="text/plain").content_type == "text/plain"


async def test_the_items_and_links_of_plain_and_async_parsers_are_listed(story: Path):
    @parser("plain")
    def plain(page: Page):
        yield Item("page", title=page.title)
        yield from map(Link, page.links())

    @parser("patient")
    async def patient(page: Page):
        yield Item("page", title=page.title)

    item, link = await parsed(plain, page(story))
    assert (item, link) == (Item("page", title="Hooks"), Link("https://site.test/more"))
    assert await parsed(patient, page(story)) == [Item("page", title="Hooks")]


async def test_a_value_that_a_crawl_refuses_is_refused(story: Path):
    @parser("wrong")
    def wrong(page: Page):
        yield page.title

    with pytest.raises(TypeError, match="yields str, not Item"):
        await parsed(wrong, page(story))
