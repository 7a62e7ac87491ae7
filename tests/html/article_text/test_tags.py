"""Kinds of elements."""

from longline.html.article_text import tags


def test_each_element_has_one_kind():
    named = [tag for words in tags._TAGS.values() for tag in words.split()]
    assert len(named) == len(set(named)) == len(tags.KINDS)
    assert set(tags.KINDS) >= tags.TEXT_TAGS | tags.LIST_TAGS | tags.NEVER_ARTICLES


def test_a_set_of_words():
    assert tags.word_set("a b  a") == {"a", "b"}
