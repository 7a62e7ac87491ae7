"""The fields of a page for its preview."""

from longline.parsers.previews import page_preview
from longline.plugins import Page

MARKUP = b"""<title> A  story </title><meta name=author content=""><meta name=author content=Ann>
<meta property="og:title" content="OG"><meta property="og:video" content="v">
<link rel=alternate type=application/rss+xml href=/feed><nav>menu</nav><p>First.<p>Second.<footer>end</footer>"""


def test_the_fields_of_a_page():
    [item] = page_preview(Page("https://a.example/x", MARKUP, content_type="text/html"))
    assert item.fields == {
        "title": "A story",
        "text": "First.\nSecond.",
        "author": "Ann",
        "description": "",
        "open_graph": {"title": "OG"},
        "feeds": ["https://a.example/feed"],
    }
