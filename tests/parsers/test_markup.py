"""HTML inside another document."""

import pytest

from longline.parsers.markup import one_line, plain_text, sanitized

BASE = "https://a.example/b/"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("a < b & c", "a < b & c"),
        ("<b>bold</b> &amp; <i>lean</i>", "bold & lean"),
        ("R&amp;D", "R&D"),
        ("two\n  lines", "two lines"),
        ("said<script>run()</script> <style>p{}</style>aloud", "said aloud"),
        ("no\N{NO-BREAK SPACE}break", "no\N{NO-BREAK SPACE}break"),
        ("<div>" * 100_000, "<div>" * 100_000),  # too deep to be parsed, and therefore text
    ],
)
def test_plain_text(markup: str, text: str) -> None:
    assert plain_text(markup) == text


@pytest.mark.parametrize(
    ("markup", "wanted"),
    [
        ("<p class=x>as   written", "<p class=x>as   written"),
        ('<a href="c">c</a>', '<a href="https://a.example/b/c">c</a>'),
        ('<img src="/d.png">', '<img src="https://a.example/d.png">'),
        ("<p>x<script>y</script></p>", "<p>x</p>"),
        ('<p onclick="y()">x</p>', "<p>x</p>"),
        ("<p/onclick=y()>x</p>", "<p>x</p>"),
        ('<p title="z"onclick="y()">x</p>', '<p title="z">x</p>'),
        ('<p style="color: red">x</p>', "<p>x</p>"),
        ('<svg><a xlink:href="java&#115;cript:y()">x</a></svg>', "<svg><a>x</a></svg>"),
        ('<button formaction="javascript:y()">x</button>', "<button>x</button>"),
        ('<object data="x.swf"><param name=a><embed src="x.swf"><p>No player.</p></object>', "<p>No player.</p>"),
        ("<p>a<object>b<object>c</object></object>d</p>", "<p>abcd</p>"),
        ('<form action="/x"><p>Ask us</p><input name=q></form>', '<p>Ask us</p><input name="q">'),
        ("<applet code=x>Text</applet><iframe src=y>z</iframe>", "Text"),
        ('<a href=" java\nscript:y()">x</a>', "<a>x</a>"),
        ('<a href="mailto:me@a.example">x</a>', '<a href="mailto:me@a.example">x</a>'),
        ('<a href="http://[">x</a>', '<a href="http://[">x</a>'),
        ("<style>p{}</style><p>x</p>", "<p>x</p>"),
        ("<div><script>" * 100_000, ""),
    ],
)
def test_links_are_made_absolute_and_scripts_are_removed(markup: str, wanted: str) -> None:
    assert sanitized(markup, BASE) == wanted


def test_one_line() -> None:
    assert one_line(" a\t b\r\nc ") == "a b c"
