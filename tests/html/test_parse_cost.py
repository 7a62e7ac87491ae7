"""Markup made to hold the parser is refused before it is parsed; other markup is not."""

import pytest

from longline.html.parse_cost import (
    MAX_HARMLESS_BYTES,
    MAX_QUICK_BYTES,
    ParseCost,
    TooComplex,
    check_parse_cost,
    parse_cost_of,
)
from longline.plugins.page import Page

MANY = 30_000


@pytest.mark.parametrize(
    "markup",
    [
        b"<div>" * MANY,
        b"<DIV class=x>" * MANY,
        b"<div>" * MANY + b"</div>" * MANY,
        b"</div>" * MANY + b"<div>" * MANY,
        b"<ul><li>" * MANY,
        b"<b>" * MANY,
        b"<svg><b>" + b"<div/>" * MANY,
        b"<svg><style>" + b"<div>" * MANY + b"</style></svg>",
        b"<svg><foreignObject>" + b"<div/>" * MANY,
        b"".join(b"<p><font color=%d></p>" % number for number in range(MANY)),
        b"".join(b"<font color=%d>" % number for number in range(MANY)),
        b"<span>" * MANY + b"</x>" * MANY,
        b"<p>text</p>" * 1000 + b"<table><tr><td>" * MANY,
        b"<a " + b"".join(b"x%d=1 " % number for number in range(MANY)) + b">",
        b"<a " + b"".join(b"x%d='%s' " % (number, b">" * 15) for number in range(MANY)) + b">",
        b"<a " + b"".join(b'x%d="%s"' % (number, b">" * 15) for number in range(MANY)),
        b"<a " + b"".join(b"x%d='%d'" % (number, number) for number in range(MANY)) + b">",
        b"<a " + b"".join(b"x%d/" % number for number in range(MANY)) + b">",
        b"<p>" + b"<i " + b"".join(b'x%d="" ' % number for number in range(MANY)),
        b"<p>text</p>" * 9000 + b"<a " + b"".join(b"x%d " % number for number in range(MANY)) + b">" + b"<p>" * 9000,
    ],
)
def test_hostile_markup(markup):
    with pytest.raises(TooComplex):
        check_parse_cost(markup)
    with pytest.raises(TooComplex):
        Page("http://example.com/", markup).links()


@pytest.mark.parametrize(
    "markup",
    [
        b"",
        b"<div>" * 2000,
        b"<div><p>text<br><b>bold</b></div>" * MANY,
        b"<p>never closed" * MANY,
        b"<ul>" + b"<li>never closed" * MANY + b"</ul>",
        b"<table>" + b"<tr><td>cell<td>cell" * MANY,
        b"<select>" + b"<option>choice" * MANY,
        b"<img src='x.png'><br>" * MANY,
        b"<div>" * 1000 + b"<p>deep but not large</p>" * 20_000,
        b"<img src='data:image/png;base64," + b"A" * 500_000 + b"'>",
        b'<path d="' + b"1 2 " * 100_000 + b'">',
        b"plain words " * 50_000,
        b"<x-y><z:w>" * MANY,
        # shapes that end with a slash
        b"<div><svg viewBox='0 0 9 9'>" + b"<path d='M1 2/3'/><circle r=1 />" * MANY + b"</svg></div>",
        b"<div><svg><title>an icon</title><path d=''/></svg></div>" * MANY,
        b"<math><mi>x</mi><mspace width='1em'/></math>" * MANY,
        # words in angle brackets
        b"<p>say <LANG> or <name@example.com></p>" * MANY,
        b"<pre>" + b"--set <KEY> <VALUE>\n" * MANY + b"</pre>",
        b"<table>" + b"<tr><td><FILE><td><LANG></tr>" * MANY + b"</table>",
        b"<dl>" + b"<dt>-o <FILE><dd>where <LANG> is <KEY>" * MANY + b"</dl>",
        b"<ul>" + b"<li><b>bold <FILE>" * 10 + b"</ul>" + b"<p><i>never closed</p>" * MANY,
        b"<script>/* <![CDATA[ */ " + b"var x = 1; " * 20_000 + b"</script>",
        b"<pre>" + b"words that are no attributes " * 20_000 + b"</pre>",
        b"<" * 200_000,
        b"<div class='a' data-x=\"b>c\"><p title=don't>it's</p></div>\n" * 20_000,
    ],
)
@pytest.mark.slow(reason="parses megabytes")
def test_large_but_honest_markup(markup):
    check_parse_cost(markup)
    Page("http://example.com/", markup).links()


def test_deep_markup_in_utf_16_is_refused_too():
    body = ("<div>" * MANY).encode("utf-16")
    assert len(body) > MAX_HARMLESS_BYTES
    with pytest.raises(TooComplex):
        Page("http://example.com/", body).links()


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        (b"<p>some words and more</p>" * 900, ParseCost.LITTLE),
        (b"<p>" + b"word " * 40_000, ParseCost.LITTLE),
        (b'<base href="/"><p>words</p>', ParseCost.LITTLE),
        (b"<style>" + b"a{b:c}" * 2_000 + b"</style>", ParseCost.LITTLE),  # long, but no tag
        (b"<b>" * 20_000, ParseCost.MUCH),  # small, but each tag is compared with the open ones
        (b"<p" + b" a" * 3_000 + b">", ParseCost.MUCH),  # each attribute is compared with all others
        (b"<style>a</style><p" + b" <a" * 2_000 + b">", ParseCost.MUCH),
        (b"\x1b$B0!\x1b(B", ParseCost.MUCH),  # decoded piece by piece
        (b"<p>" + b"word " * 70_000, ParseCost.SOME),  # longer than the bound of a quick page
        (b"<p>words</p>" * 3_000, ParseCost.LITTLE),  # half of the tags are closing ones
        (b"<p>words</p>" * 3_300, ParseCost.SOME),
        (b"<p>" + b"word " * 300_000, ParseCost.MUCH),
        (b"<b>" * 25_000, ParseCost.MUCH),
        (b"<b>" * 40_000, ParseCost.WILD),
        (b"<b></b>" * 40_000, ParseCost.WILD),
    ],
)
def test_the_cost_of_a_page(body: bytes, cost: ParseCost):
    assert parse_cost_of(body) is cost


def test_links_relative_to_a_long_url_cost_much():
    assert parse_cost_of(b"<a href=x>", "https://a.example/" + "a" * 2_000) is ParseCost.MUCH


def test_the_bound_of_quick_pages_is_above_the_bound_of_harmless_ones():
    assert parse_cost_of(b" " * MAX_QUICK_BYTES) is ParseCost.LITTLE
    assert parse_cost_of(b" " * (MAX_QUICK_BYTES + 1)) is ParseCost.SOME
    assert MAX_HARMLESS_BYTES < MAX_QUICK_BYTES
