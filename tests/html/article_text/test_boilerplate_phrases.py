"""Phrases of boilerplate: a whole line in English, never a sentence with the same beginning."""

import pytest

from longline.html.article_text.boilerplate_phrases import MAX_PHRASE_CHARS, is_boilerplate


@pytest.mark.parametrize(
    "line", ["Advertisement", "Read more: another story", "3 comments", "Sign up for our newsletter", "***"]
)
def test_a_phrase_is_boilerplate(line: str):
    assert is_boilerplate(line)


@pytest.mark.parametrize(
    "line", ["", "Shares fell.", "Printing was invented in Mainz.", "read more " * (MAX_PHRASE_CHARS // 10)]
)
def test_any_other_line_is_no_boilerplate(line: str):
    assert not is_boilerplate(line)
