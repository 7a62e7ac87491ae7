"""Pages of known content management systems."""

import pytest

from longline.parsers.page_content import extract
from longline.plugins import Page


@pytest.mark.parametrize(
    ("markup", "hint", "text"),
    [
        (
            "<link href=/wp-content/x.css><article><h1 class=entry-title>T</h1><p class=entry-content>Body</p>",
            "",
            "Body",
        ),
        ("<div class='field--name-body'>Body</div>", "drupal", "Body"),
        ('<meta property="og:type" content="article"><article><p itemprop=articleBody>Body</p></article>', "", "Body"),
    ],
)
def test_templates(markup, hint, text):
    got = extract(Page("https://n.example/x", markup.encode()), {}, hint)
    assert (got.method, got.text) == ("template", text)


def test_a_template_that_finds_nothing_is_not_used():
    assert extract(Page("https://n.example/x", b"<div>x</div>"), {}, "drupal").method == "heuristic"
