"""Main text, by the library and by a simple rule."""

import subprocess
import sys

import pytest

from longline.html.page_text import main_text, simple_text, with_whole_blocks
from longline.plugins import Page

STORY = "<p>" + "Long lines carry many hooks, and every hook may carry a fish. " * 5 + "</p>"


def test_the_library_leaves_menus_and_comments_out():
    markup = (
        f"<html><body><nav><a href=/>Home</a></nav><article><h1>Lines</h1>{STORY * 3}</article>"
        "<div class=comments id=comments><p>First! I was here before everybody else, so there.</p></div></body></html>"
    )
    text = main_text(markup)
    assert "carry many hooks" in text
    assert "Home" not in text
    assert "First!" not in text


@pytest.mark.parametrize(
    ("text", "blocks", "whole"),
    [
        ("B\nOne\ntwo\nthree.", "B\nOne two three.\nmore", "B\nOne two three."),
        ("One\ntwo\nother", "One two three", "One\ntwo\nother"),
        ("a\nb\nab\nc", "a b\nc", "a b\na b\nc"),
        ("a\na\nb", "a\na b", "a\na b"),
        ("", "a", ""),
        ("a", "", "a"),
    ],
)
def test_lines_are_those_of_the_blocks_with_the_same_words(text: str, blocks: str, whole: str):
    assert with_whole_blocks(text, blocks) == whole


def test_an_empty_or_binary_body_has_no_text():
    assert main_text("") == ""
    assert main_text("\x00\x01") == ""


def test_the_simple_rule_keeps_lines_apart():
    tree = Page("https://example.com/", b"<nav>menu</nav><main><h1>A</h1><p>b<br>c</p><script>x</script></main>d").tree
    assert simple_text(tree) == "A\nb\nc"
    assert tree.css_first("nav") is not None


@pytest.mark.slow(reason="starts a process")
def test_the_library_is_not_imported_before_a_text_is_extracted():
    loaded = "import sys, longline.plugins, longline.wiring; print('trafilatura' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout == "False\n"
