"""Depth by tags, without a parser."""

import re

import pytest

from longline.html.nesting import Nesting


def nested(markup: str) -> Nesting:
    nesting = Nesting()
    for slash, name, rest in re.findall(r"<(/?)([\w-]+)([^>]*)>", markup):
        if slash:
            nesting.end(name.encode())
        else:
            nesting.begin(name.encode(), f"<{name}{rest}".encode(), empty=rest.endswith("/"))
    return nesting


@pytest.mark.parametrize(
    ("markup", "depth"),
    [
        ("<div><div>", 2),
        ("<div></div><div></div>", 0),
        ("</div></x><div>", 1),
        ("<br><img><p><li>", 0),
        ("<div><lang><x></div>", 0),
        ("<p><lang></p><p><lang></p>", 0),
        ("<p><lang><p><lang><p>", 0),
        ("<dl><dt><lang><dd><lang><dt>", 1),
        ("<table><tr><td><lang><td><lang></table>", 0),
        ("<lang><p><lang></p>", 1),
        ("<x><div></x>", 2),
        ("<div><p><section></p>", 2),
        ("<svg><path/><path/></svg>", 0),
        ("<svg><path/><path/>", 1),
        ("<svg><g><path/>", 2),
        ("<path/><path/>", 2),
        ("<div/><div/>", 2),
        ("<svg><g><div>", 1),
        ("<svg><title><x/><x/>", 4),
        ("<svg><foreignobject><div/><div/>", 4),
    ],
)
def test_depth(markup, depth):
    assert nested(markup).depth == depth


def test_formatting_outlives_its_paragraph_but_only_three_of_a_kind():
    assert nested("<p><b></p>" * 2).depth == 2
    assert nested("<p><b></p>" * 9).depth == 3
    assert nested("".join(f"<p><font color={n}></p>" for n in range(9))).depth == 9
    assert nested("<p><b></p></b>").depth == 0


def test_work_counts_the_open_elements_that_are_compared():
    assert nested("<x>" * 9).work == 0
    assert nested("<div>" * 9).work == sum(range(9))
    assert nested("<font a>" + "<p></p>" * 9).work > nested("<x>" + "<p></p>" * 9).work
