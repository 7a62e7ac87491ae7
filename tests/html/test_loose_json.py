"""Loose JSON of pages is repaired within limits, and never run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.html.loose_json import MAX_REPAIRED_CHARS, literal, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (' <!-- {"a": 1} --> ', {"a": 1}),
        ('/*<![CDATA[*/ {"a": 1}; /*]]>*/', {"a": 1}),
        ('{"a": "b\nc\td"}', {"a": "b\nc\td"}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ('/* why */ {"a": "http://x//y", // so\n "b": 1}', {"a": "http://x//y", "b": 1}),
        ("{&quot;a&quot;: &quot;b&amp;c&quot;}", {"a": "b&c"}),
        ("{'a': 'it\\'s', b: undefined, c: NaN}", {"a": "it's", "b": None, "c": None}),
        (r'{"a": "it\'s \x \u00e9 \n \\"}', {"a": "it's x \u00e9 \n \\"}),
        ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}, {"b": 2};\n[3]', [{"a": 1}, {"b": 2}, [3]]),
        ('{"a": 1} and {"b": 2}', {"a": 1}),
        ('{"a": f(1)}', None),
        ("{", None),
        ("", None),
        ("null", None),
        ("[" * 100_000 + "]" * 100_000, None),
    ],
)
def test_json_with_the_usual_mistakes_is_read(text, value):
    assert parse_json(text) == value


def test_json_that_is_too_long_is_not_repaired():
    assert parse_json('{"a": 1,}' + " " * MAX_REPAIRED_CHARS + "{}") is None
    assert parse_json('{"a": 1}' + " " * MAX_REPAIRED_CHARS) == {"a": 1}


def test_deep_nesting_raises_nothing():
    assert parse_json("[" * 1_000_000) is None
    assert parse_json("]" + "[" * 1_000_000) is None
    assert literal("[" * 100_000) is None


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    literal("{" + text)
    parse_json("{" + text + "}")
