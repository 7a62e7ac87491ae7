"""Weights of lines and containers."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from longline.html.article_text.lines import Line, LineReader, PageLines
from longline.html.article_text.tags import BLOCK, HEADING, ITEM, PARAGRAPH, QUOTE, ROW
from longline.html.article_text.weights import container_weights, kept_containers, weight_of

WORDS = "A line of exactly fifty characters, with a few more"[:50]


@pytest.mark.parametrize(
    ("chars", "linked", "kind", "weight"),
    [
        (50, 0, PARAGRAPH, 50),
        (50, 0, QUOTE, 50),
        (50, 0, BLOCK, 40),
        (50, 0, ITEM, 25),
        (50, 0, ROW, 15),
        (50, 0, HEADING, 0),
        (39, 0, PARAGRAPH, 0),
        (20, 0, ROW, 6),
        (100, 40, PARAGRAPH, 60),
        (100, 41, PARAGRAPH, 0),
    ],
)
def test_the_weight_of_a_line(chars, linked, kind, weight):
    assert weight_of(Line("x" * chars, linked, 0, kind)) == pytest.approx(weight)


def read(markup: str) -> tuple[PageLines, list[float]]:
    body = LexborHTMLParser(markup).body
    assert body is not None
    page = LineReader().read(body)
    return page, [weight_of(line) for line in page.lines]


@pytest.mark.parametrize(
    ("markup", "by_name", "kept"),
    [
        (f"<div class=promo><p>{WORDS}</p></div><p>{WORDS * 2}</p>", True, [True, False, False, True]),
        (f"<div class=promo><p>{WORDS}</p></div><p>{WORDS * 2}</p>", False, [True] * 4),
        (f"<aside><p>{WORDS}</p></aside><p>{WORDS * 2}</p>", False, [True, False, False, True]),
        (f"<div class=promo><p>{WORDS}</p></div><p>{WORDS}</p>", True, [True] * 4),
        (f"<div class=comments><p>{WORDS}</p></div><p>{WORDS}</p>", True, [True, False, False, True]),
        (f"<div class=comments><p>{WORDS * 9}</p></div><p>{WORDS}</p>", True, [True] * 4),
        ("<div class=promo>x</div>", True, [True, False]),
    ],
)
def test_a_container_with_the_name_of_boilerplate_is_kept_if_it_has_much_of_the_page(markup, by_name, kept):
    page, weights = read(markup)
    assert kept_containers(page, weights, by_name=by_name) == kept


def test_weights_are_summed_up_the_tree_over_kept_containers():
    page, weights = read(f"<div><p>{WORDS}</p><div>{WORDS}</div></div><footer><p>{WORDS}</p></footer>")
    sums = container_weights(page, weights, kept_containers(page, weights, by_name=True))
    assert sums.weights == pytest.approx([90, 90, 50, 40, 0, 0])
    assert sums.own == pytest.approx([0, 0, 50, 40, 0, 0])
    assert (sums.chars[0], sums.linked[0]) == (100, 0)
