"""The article of a page, and the parts of the page outside of it."""

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from longline.html.article_text.article_extraction import extract_article

WORDS = "The line is set at dusk and hauled at dawn, by people who know the sea and its weather."
STORY = "".join(f"<p>{number}. {WORDS} {WORDS}</p>" for number in range(1, 6))
TEXT = "\n".join(f"{number}. {WORDS} {WORDS}" for number in range(1, 6))
LINKS = (
    "<ul>" + "".join(f"<li><a href=/{number}>Another story, number {number}</a></li>" for number in range(9)) + "</ul>"
)


def text(markup: str) -> str:
    tree = LexborHTMLParser(markup)
    title = tree.css_first("title")
    return extract_article(tree, title.text() if title else "", str).text


@pytest.mark.parametrize(
    "markup",
    [
        STORY,
        f"<article>{STORY}</article>{LINKS}",
        f"<div>{LINKS}</div><div class=main><div>{STORY}</div></div><div><p>{WORDS}</p></div>",
        f"<title>A fine catch - News</title><h1>A fine catch</h1><div>{STORY}</div>",
        f"<article><header><h1>A fine catch</h1></header>{STORY}<h2>Related</h2></article>",
        f"<article>{STORY}<p>Advertisement</p><p>Read more: another story</p></article>",
        f"<article>{STORY}<div class=comments><p>First! {WORDS}</p></div></article>",
        f"<article>{STORY}<aside><p>{WORDS}</p></aside><footer><p>{WORDS}</p></footer></article>",
        f"<div class=has-sidebar><form class=sidebar>{STORY}</form></div>",
        f"<div hidden id=S:0>{STORY}</div>",
        f"<div><div itemprop=articleBody>{STORY}</div><div>{STORY.replace('sea', 'shore') * 3}</div></div>",
        f"<article>{STORY}<p><a href=/x>{WORDS}</a></p></article>",
        f"<div class=a>{STORY}</div><div class=b>{STORY}</div>",
    ],
)
def test_only_the_article_is_extracted(markup):
    assert text(markup) == TEXT


def test_a_standfirst_between_title_and_body_belongs_to_the_article():
    lead = f"In short: {WORDS}"
    markup = (
        f"<title>A fine catch, at last</title><div><h1>A fine catch, at last</h1><div><p>{lead}</p></div></div>"
        f"<div class=article-body>{STORY}</div>"
    )
    assert text(markup) == f"{lead}\n{TEXT}"


def test_an_article_in_several_bodies_is_one_text():
    """A body that is much shorter than the others is another text."""
    rest = "".join(STORY.replace("sea", word) for word in ("bay", "fjord", "sound", "strait", "lagoon"))
    body = f"<div class='story-body part-2'>{rest}</div>"
    page = f"<h1>A fine catch</h1><article><div class='story-body part-1'>{STORY}</div>{body}</article>"
    assert text(page).startswith(f"{TEXT}\n{TEXT.replace('sea', 'bay')}\n")
    note = f"<h1>A fine catch</h1><article>{body}<div class=story-body><p>{WORDS}</p></div></article>"
    assert text(note).splitlines() == [line for line in text(page).splitlines() if " the sea " not in line]


def test_references_are_a_part_of_the_article():
    references = "".join(
        f"<li>Doe, J. ({year}). <a href=/{year}>The sea</a>. Retrieved in May.</li>" for year in (1990, 1991)
    )
    page = f"<article>{STORY}<h2>References</h2><div class=reflist><ol>{references}</ol></div></article>"
    assert text(page).endswith(
        "References\nDoe, J. (1990). The sea. Retrieved in May.\nDoe, J. (1991). The sea. Retrieved in May."
    )


def test_headings_lists_and_rows_are_part_of_the_article():
    inside = (
        "<h2>Gear</h2><ul><li>hooks</li><li>a <a href=/l>line</a></li></ul><table><tr><td>a</td><td>b</td></tr></table>"
    )
    assert text(f"<article>{STORY}{inside}<p>{WORDS}</p></article>") == f"{TEXT}\nGear\nhooks\na line\na | b\n{WORDS}"


@pytest.mark.parametrize(
    "piece",
    [
        "<div class=a>{0}<p>{1}</p></div>",
        "<h2>A heading that is long enough to be one</h2>",
        "<a href=/x><table><tr><td>",
        "<ul><li>x",
        "<div><b>x</b>",
        "<div class='{0}'>x</div>",
        "<p>x<br>",
    ],
)
def test_time_grows_with_the_size_of_a_page_and_not_faster(piece):
    def page(count: int) -> LexborHTMLParser:
        return LexborHTMLParser(
            f"<title>{'t' * count}</title>" + "".join(piece.format(number, WORDS) for number in range(count))
        )

    def seconds(tree: LexborHTMLParser) -> float:
        began = time.thread_time()
        extract_article(tree, "t" * 3200, str)
        return time.thread_time() - began

    small, large = page(400), page(3200)
    assert min(seconds(large) for _ in range(3)) < 8 * 4 * max(min(seconds(small) for _ in range(3)), 0.001)
