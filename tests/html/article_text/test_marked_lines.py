"""Lines with marks."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from longline.html.article_text.lines import LineReader, PageLines
from longline.html.article_text.marked_lines import CODE, LINKED, STRONG, MarkedLineReader, Span
from longline.html.article_text.tags import HEADING, PARAGRAPH, ROW


def read(markup: str, reader: LineReader) -> PageLines:
    body = LexborHTMLParser(markup).body
    assert body is not None
    return reader.read(body)


def test_marks_change_no_text():
    markup = (
        "<p>a<b>b</b><img src=x alt=y> <code>c</code><a href=z>d</a></p><figure><img src=x alt=y></figure>"
        "<table><tr><td><b>e</b></td><td>f</td></tr></table><h2>g<a>¶</a></h2>"
    )
    marked = [line for line in read(markup, MarkedLineReader()).lines if line.text]
    assert [line._replace(container=0) for line in marked] == [
        line._replace(container=0) for line in read(markup, LineReader()).lines
    ]
    assert [line.kind for line in marked] == [PARAGRAPH, ROW, HEADING]


def test_marks_around_several_lines_are_marks_of_each():
    reader = MarkedLineReader()
    read("<b>a<p>b <code>c</code></p></b><a href=/x><h2>d</h2></a>e", reader)
    assert {number: list(line.spans) for number, line in reader.marked.items()} == {
        0: [Span(0, 1, STRONG)],
        1: [Span(1, 2, CODE), Span(0, 2, STRONG)],
        2: [Span(0, 1, LINKED, "/x")],
    }


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        ("<pre class='brush: js'>x</pre>", "js"),
        ("<pre><code class='lang-rust'>x</code></pre>", "rust"),
        ("<div class='language-ruby highlighter-rouge'><div><pre>x</pre></div></div>", "ruby"),
        ("<pre class='language-a`b'>x</pre>", "a"),
        ("<pre class='wide'>x</pre>", None),
    ],
)
def test_the_language_of_code(markup, language):
    reader = MarkedLineReader()
    page = read(markup, reader)
    assert reader.languages.get(page.lines[0].container) == language


def test_only_numbers_begin_a_list():
    reader = MarkedLineReader()
    read("<ol start=3><li>a</ol><ol start=x><li>b</ol><ol start=-1><li>c</ol><ol start=99999999999><li>d</ol>", reader)
    assert list(reader.first_numbers.values()) == [3]
