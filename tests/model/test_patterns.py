"""Patterns of users: RE2 patterns are accepted, and all others are refused in one line."""

import logging
import time

import pytest

from longline.model.errors import BadInput
from longline.model.patterns import MAX_PATTERNS, Patterns, check_patterns, compile_pattern, is_usable

CATASTROPHIC = (
    *("(a+)+$", "(a|a)+$", "(a|aa)+$", "^(a*)*$", "(.*a){20}$", "(a?){20}a{20}$", "([a-z]+)*!$", "(?i)(a+)+$"),
    *(".*.*.*.*b", "(x+x+)+y", r"(\w+\s?)*$", "^(([a-z])+.)+[A-Z]([a-z])+$"),
)


@pytest.mark.parametrize("text", CATASTROPHIC)
def test_the_time_of_a_search_grows_with_the_text_and_not_faster(text: str):
    pattern = compile_pattern(text)

    def seconds(length: int) -> float:
        hostile = f"https://a.example/{'a' * length}!"
        times = []
        for _ in range(5):
            started = time.process_time()
            for _ in range(10):
                pattern.found_in(hostile)
            times.append(time.process_time() - started)
        return min(times)

    seconds(4000)  # the first search builds states for the next ones
    assert seconds(8000) < 20 * seconds(500) + 0.02


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(", "missing )"),
        ("[", "missing ]"),
        ("(?=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        (r"(a)\1", "invalid escape sequence"),
        ("((a{100}){100}){100}", "invalid repetition size"),
        ("(a?){990}b", "too large"),
        ("a" * 3000, "longer than 2048 characters"),
        ("\ud800", "half a character"),
    ],
)
def test_a_pattern_that_cannot_be_compiled_is_refused_in_one_line(text: str, why: str):
    with pytest.raises(BadInput, match="bad pattern") as refused:
        compile_pattern(text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "url", "found"),
    [
        ("", "https://a.example/", True),
        (r"/\d{4}/", "https://a.example/2024/x", True),
        (r"/a\Z", "https://a.example/a", True),
        (r"/a\Z", "https://a.example/ab", False),
        (r"/a\\Z", r"https://a.example/a\Z", True),
        ("(?P<year>20..)", "https://a.example/2024", True),
        ("(?i)NEWS", "https://a.example/news", True),
        ("ü", "https://a.example/ü", True),
        ("x", "\ud800", False),
    ],
)
def test_patterns_have_the_usual_meaning(text: str, url: str, found: bool):
    assert compile_pattern(text).found_in(url) is found


def test_several_patterns_do_not_change_each_other():
    both = Patterns(("(?i)/NEWS/", "/Story/"))
    assert [both.found_in(f"https://a.example/{path}/") for path in ("news", "Story", "story")] == [True, True, False]
    quoted = Patterns((r"\Qa|", r"b\Ec"))
    assert not quoted.found_in("https://x.example/c")
    assert quoted.found_in("https://x.example/a|")
    assert not Patterns(()).found_in("https://a.example/")


def test_many_patterns_that_are_too_large_together_are_searched_one_by_one():
    many = Patterns([f"/[a-z]{{{n}}}/end{n}" for n in range(1, MAX_PATTERNS)])
    assert many.found_in("https://x/abc/end3")
    assert not many.found_in("https://x/abc/end4")


def test_a_stored_pattern_that_cannot_be_compiled_matches_nothing_and_is_logged_once(caplog):
    is_usable.cache_clear()
    for _ in range(3):
        assert [Patterns(("(?=a)", "b")).found_in(text) for text in ("a", "b")] == [False, True]
    assert [r.message for r in caplog.records if r.levelno == logging.WARNING] == [
        "stored pattern does not compile and matches nothing"
    ]


@pytest.mark.parametrize("texts", ["x", ["("], [7], [None], ["a"] * (MAX_PATTERNS + 1)])
def test_an_unusable_list_is_refused_by_its_name(texts: object):
    with pytest.raises(BadInput, match=r"rules\.allow"):
        check_patterns("rules.allow", texts)


def test_a_usable_list_is_not_refused():
    usable = ["/a", "(b+)+$"]
    check_patterns("rules.allow", usable)
    with pytest.raises(BadInput):
        check_patterns("rules.allow", [*usable, "("])
