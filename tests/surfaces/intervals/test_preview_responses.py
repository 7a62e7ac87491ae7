"""Previews of pages in the format of the contract."""

from longline.services.page_preview import PagePreview
from longline.surfaces.intervals.preview_responses import fetched_page, site_metadata

PREVIEW = PagePreview("https://a.example", "https://www.a.example/", 200, "text/html", title="A", text="Read.")


def test_a_site_without_a_name_is_named_by_its_title_or_its_host():
    assert site_metadata(PREVIEW).name == "A"
    assert site_metadata(PagePreview("x", "https://www.a.example/", 200, "")).name == "www.a.example"


def test_a_page_without_open_graph_shows_none():
    shown = fetched_page(PREVIEW)
    assert (shown.body, shown.og) == ("Read.", None)
