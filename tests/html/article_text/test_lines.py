"""Lines and containers of a page."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from longline.html.article_text.lines import Line, LineReader, PageLines
from longline.html.article_text.marked_lines import MarkedLineReader
from longline.html.article_text.tags import BLOCK, HEADING, ITEM, PARAGRAPH, PREFORMATTED, QUOTE


def read(markup: str, reader: LineReader | None = None) -> PageLines:
    tree = LexborHTMLParser(markup)
    before = tree.html
    assert tree.body is not None
    page = (reader or LineReader()).read(tree.body)
    assert tree.html == before
    return page


def texts(markup: str) -> list[str]:
    return [line.text for line in read(markup).lines]


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        ("", []),
        ("  \n ", []),
        ("<p>One <b>two</b>\n  three</p> four", ["One two three", "four"]),
        ("<div>a<div>b</div>c</div>", ["a", "b", "c"]),
        ("<p>a<br>b<br><br>c</p>", ["a\nb\nc"]),
        ("a<hr>b", ["a", "b"]),
        ("<pre>  x\n\n    y\n</pre>", ["  x\n\n    y"]),
        ("<pre><div>x</div><div>y</div></pre>", ["x", "y"]),
        ("<pre>x<br>y</pre>", ["x\ny"]),
        ("<table><tr><td>a</td> <td>b <i>c</i></td></tr><tr><th>d</th></tr></table>", ["a | b c", "d"]),
        ("<table><tr><td><p>a</p></td><td>b</td></tr></table>", ["a", "b"]),
        ("<p>soft\u00adly\u200b said</p>", ["softly said"]),
        ("<h2>Heading <a href=#x>¶</a></h2>", ["Heading"]),
        ("<h2>§ 5</h2>", ["§ 5"]),
        ("<script>x</script><nav>y</nav><button>z</button><!-- c -->t", ["t"]),
        ("<p>a <x-own>b</x-own> c</p><x-box>d</x-box>e", ["a b c", "d", "e"]),
        ("<template><p>x</p></template><svg><text>y</text></svg><p>z</p>", ["z"]),
    ],
)
def test_the_lines_of_a_page(markup, lines):
    assert texts(markup) == lines


def test_kinds_of_lines_and_their_containers():
    page = read("<h1>h</h1><ul><li>i<p>p</p></li></ul><blockquote><p>q</p></blockquote><pre>c</pre><p>p</p>t")
    kinds = [(line.text, line.kind, page.tags[line.container]) for line in page.lines]
    assert kinds == [
        ("h", HEADING, "h1"),
        ("i", ITEM, "li"),
        ("p", ITEM, "p"),
        ("q", QUOTE, "p"),
        ("c", PREFORMATTED, "pre"),
        ("p", PARAGRAPH, "p"),
        ("t", BLOCK, "body"),
    ]
    assert all(parent < container for container, parent in enumerate(page.parents))


def test_characters_inside_links_are_counted():
    page = read("<p>ab <a href=x>cd</a> <a href=y>e</a></p><a href=z><h3>fgh</h3><p>ij</p></a><p>k</p>")
    assert [(line.text, line.linked) for line in page.lines] == [("ab cd e", 3), ("fgh", 3), ("ij", 2), ("k", 0)]


def test_links_inside_links_are_counted_once():
    inside = "<a href=1>a<table><tr><td><a href=2>b</a></td></tr></table></a>"
    assert [(line.text, line.linked) for line in read(inside).lines] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize("reader", [LineReader, MarkedLineReader])
def test_a_very_deep_page_is_read_to_its_end(reader):
    deep = 3000
    page = read("<div>" * deep + "text" + "<b><i>" * 100 + "end", reader())
    assert page.lines == [Line("textend", 0, deep, BLOCK)]
