"""The steps by which an article is extracted."""

from selectolax.lexbor import LexborHTMLParser

from longline.html.article_text.article_extraction import MIN_SURE_CHARS, extract_article
from longline.html.article_text.lines import LineReader, PageLines

WORDS = "The line is set at dusk and hauled at dawn, by people who know the sea and its weather."
STORY = "".join(f"<p>{number}. {WORDS} {WORDS}</p>" for number in range(1, 6))
TEXT = "\n".join(f"{number}. {WORDS} {WORDS}" for number in range(1, 6))


def text(markup: str, declared: str = "") -> str:
    return extract_article(LexborHTMLParser(markup), "", lambda: declared).text


def test_the_declared_text_replaces_only_a_much_shorter_one():
    assert text(f"<main>{WORDS}</main>", WORDS * 5) == WORDS * 5
    assert text(f"<main>{WORDS}</main>", WORDS + ".") == WORDS
    assert text(STORY, WORDS * 99) == TEXT


def test_a_page_without_text_has_no_article():
    for markup in ("", "<p></p>", "<nav>x</nav>", "<frameset><frame src=x></frameset>", f"<nav>{STORY}</nav>"):
        assert text(markup) == ""


def test_names_of_boilerplate_are_ignored_if_little_other_text_is_left():
    inside = f"<p>{WORDS} {WORDS}</p>"
    named = "".join(f"<div class=promo>{inside.replace('dusk', day)}</div>" for day in ("noon", "night", "dawn", "two"))
    markup = f"<article><p>{WORDS}</p>{named}</article>"
    assert len(WORDS) < MIN_SURE_CHARS
    assert text(markup).count("hauled") == 9
    assert text(markup.replace("</article>", f"{STORY}</article>")).count("hauled") == 11


def test_an_article_has_the_lines_it_was_made_of():
    found = extract_article(LexborHTMLParser(STORY), "", str, LineReader())
    assert found.selection is not None
    assert found.selection.text(found.page) == found.text == TEXT
    assert found.or_longer("short") is found
    other = found.or_longer(TEXT + TEXT + "!", 2)
    assert (other.selection, isinstance(other.page, PageLines)) == (None, True)


def test_short_lines_of_an_east_asian_script_are_prose():
    lines = "".join(f"<p>一波波接續性低溫寒流報到 已將後山一帶披上彩衣{number}</p>" for number in range(9))
    comments = "".join(f"<p>{number}. {WORDS}</p>" for number in range(3))
    markup = f"<body><div id=text>{lines}</div><div id=below>{comments}</div></body>"
    assert text(markup).count("寒流") == 9
    assert text(markup.replace("寒流", "x" * 2)).count("xx") == 9, "a few other letters in a line change nothing"


def test_a_section_named_after_its_heading_is_not_dropped_by_name():
    sections = "".join(
        f"<div id={name}><h2>{name.replace('-', ' ')}</h2>{STORY.replace('dusk', name)}</div>"
        for name in ("why-we-set-a-line", "sharing-with-a-single-developer", "how-we-haul-it-in", "what-is-left-to-do")
    )
    found = text(f"<body>{sections}</body>")
    assert found.count("sharing-with-a-single-developer") == 10
