"""Markdown of an article: read by a parser of CommonMark it has the text of the page, and nothing else."""

import html
import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser

from longline.plugins import Page

WORDS = "The line is set at dusk and hauled at dawn, by people who know the sea and its weather. "
STORY = f"<p>{WORDS * 3}</p>"
END = f"In the end: {WORDS * 3}".strip()
READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def markdown(markup: str, url: str = "https://n.example/a/b") -> str:
    body = f"<article><h1>Lines</h1>{STORY}{markup}<p>{END}</p></article>"
    made = Page(url, body.encode(), content_type="text/html; charset=utf-8").markdown()
    story = (WORDS * 3).strip()
    assert made.startswith(f"# Lines\n\n{story}\n\n")
    assert made.endswith(f"{END}\n")
    return made.removeprefix(f"# Lines\n\n{story}\n\n").removesuffix(f"{END}\n").rstrip("\n")


def tokens(made: str) -> list[Token]:
    found = READER.parse(made)
    return [*found, *(inside for token in found for inside in token.children or ())]


@pytest.mark.parametrize(
    ("markup", "made"),
    [
        ("<h2>Gear</h2><p>x</p><h3>Hooks <a href=#h>¶</a></h3><p>y</p>", "## Gear\n\nx\n\n### Hooks\n\ny"),
        ("<h2>C #</h2><p>x</p>", "## C \\#\n\nx"),
        ("<p>a <b>b</b> <i>c</i> <s>d</s> <b><i>e</i></b></p>", "a **b** *c* ~~d~~ ***e***"),
        ("<p><b>note: </b>x<b>yz</b></p>", "**note:** x**yz**"),
        ("<p>x<b>(a)</b>y</p>", "x(a)y"),
        ("<p><b>a</b><i>b</i></p>", "**a**b"),
        ("<p><code>a*b`c</code> <kbd>`</kbd></p>", "``a*b`c`` `` ` ``"),
        (
            "<p>see <a href='/x y(1)#s'>the <b>page</b></a>.</p>",
            "see [the **page**](https://n.example/x%20y\\(1\\)#s).",
        ),
        (
            "<p><a href=#s>s</a> <a href=javascript:x()>j</a> <a href=mailto:a@b.example>m</a> <a>n</a> x</p>",
            "s j m n x",
        ),
        ("<p>a<br>b<br>1. c</p>", "a\\\nb\\\n1\\. c"),
        ("<ul><li>a<li>b<ul><li>c<li>d</ul><li>e</ul>", "- a\n- b\n  - c\n  - d\n- e"),
        ("<ol><li>a<li>b<ol start=7><li>c</ol></ol>", "1. a\n2. b\n\n   7. c"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n- c"),
        ("<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>", "- a\n\n* b\n\n1. c\n\n1) d"),
        ("<ul><li><ul><li>a</ul></ul>", "- - a"),
        ("<blockquote><p>a</p><ul><li>b</ul></blockquote>", "> a\n>\n> - b"),
        ("<ul><li>a<pre>x\n\n y</pre></ul>", "- a\n\n  ```\n  x\n\n   y\n  ```"),
        ("<pre><code class='hljs language-Python'>a = 1</code></pre>", "```python\na = 1\n```"),
        ("<div class='highlight-source-c++'><pre>x;</pre></div>", "```c++\nx;\n```"),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
        (
            "<table><tr><th>a|b<th>c<tr><td><td><b>d</b><br>e<tr><td>f</table>",
            "| a\\|b | c |\n| --- | --- |\n|  | **d** e |\n| f |  |",
        ),
        ("<table><tr><td>one<tr><td># two</table>", "one\n\n\\# two"),
        ("<figure><img src=/i.png alt='A [boat]'></figure>", "![A \\[boat\\]](https://n.example/i.png)"),
        ("<p>x <img src=/i.png alt=''><img alt=y> z</p>", "x z"),
        ("<p>x <a href=/l><img src=/i.png alt=y></a></p>", "x [![y](https://n.example/i.png)](https://n.example/l)"),
        ("<dl><dt>a</dt><dd>b</dd></dl>", "**a**\n\nb"),
        ("<b><p>a</p><p>b</p></b>", "**a**\n\n**b**"),
        (
            "<p>&lt;b&gt; &amp;amp; *a* _b_ c_d [e](f) ~g~ \\</p>",
            "\\<b> \\&amp; \\*a\\* \\_b\\_ c_d \\[e\\](f) \\~g\\~ \\\\",
        ),
        ("<p># a</p><p>- b</p><p>+ c</p><p>2) d</p><p>> e</p><p>---</p>", "\\# a\n\n\\- b\n\n\\+ c\n\n2\\) d\n\n\\> e"),
    ],
)
def test_the_markdown_of_markup(markup, made):
    assert markdown(markup) == made


def test_a_page_without_a_heading_has_the_title_of_the_page():
    page = Page("https://n.example/", f"<title>On *lines*</title><p>{WORDS * 9}</p>".encode())
    assert page.markdown() == f"# On \\*lines\\*\n\n{(WORDS * 9).strip()}\n"


def test_a_short_page_is_written_as_paragraphs():
    page = Page("https://n.example/", b"<title>T</title><main><p># One</p><p>*Two*</p></main>")
    assert page.markdown() == "# T\n\n\\# One\n\n\\*Two\\*\n"
    assert Page("https://n.example/", b"").markdown() == ""


def test_the_title_of_a_short_page_stands_once():
    page = Page("https://n.example/", b"<title>One</title><main><h1>One</h1><p>Two</p><p>One</p></main>")
    assert page.markdown() == "# One\n\nTwo\n\nOne\n"


text = st.text(st.sampled_from(string.punctuation + "aé1 \n\u2014\u00a0"), max_size=30)
inline = st.recursive(
    text.map(html.escape),
    lambda inside: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(["b", "i", "em", "strong", "code", "s", "span", "kbd", "a href=/x"]).filter(lambda tag: tag),
        st.lists(inside, max_size=3).map("".join),
    ),
    max_leaves=6,
)
block = st.recursive(
    inline,
    lambda inside: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(["p", "li", "ul", "ol", "div", "blockquote", "h2", "pre", "tr", "td", "table", "dl", "dt"]),
        st.lists(inside, max_size=4).map("".join),
    ),
    max_leaves=12,
)


def visible(text: str) -> str:
    """Return a text without white space, of which Markdown keeps only some."""
    return re.sub(r"\s+", "", text)


@given(st.lists(block, max_size=4).map("".join))
@example("<p>a<b>*</b>_<i>_</i></p>")
@example("<ul><li><pre>\n- x</pre></li></ul>")
@example("<blockquote><table><tr><td>a</td><td>`|`</td></tr></table></blockquote>")
@example("<p>1. a<br>=<br>-<br>|-|</p>")
@example("<h2>#</h2><p>```</p>")
@example("<p>!<a href=/x>1</a> <b>a!</b><a href=/y>2</a></p>")
@example("<p><kbd><b>1</b>1</kbd></p>")
@example("<p><a href=mailto:x><code>1</code></a><code>1</code></p>")
def test_a_reader_finds_the_text_of_the_page_and_no_html(markup):
    body = f"<article>{STORY}{markup}<p>{END}</p></article>".encode()
    page = Page("https://n.example/", body, content_type="text/html; charset=utf-8")
    made = page.markdown()
    assert not [token for token in tokens(made) if token.type.startswith("html")]
    shown = LexborHTMLParser(READER.render(made)).body
    assert shown is not None
    seen = visible(shown.text())
    for line in page.article().split("\n"):
        cells = [visible(cell) for cell in line.split(" | ")]
        assert all(cell in seen for cell in cells), (line, made)


def test_a_page_of_many_nodes_is_written_whole():
    body = f"<article>{'<ul><li><b>a</b> <a href=/x>b</a> c</li></ul>' * 10_000}</article>".encode()
    page = Page("https://n.example/", body, content_type="text/html; charset=utf-8")
    assert page.markdown().count("[b](https://n.example/x)") == 10_000
    assert page.article().count("a b c") == 10_000
