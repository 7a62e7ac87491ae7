"""Patterns in the source that are searched in external texts: each takes time linear in the length of the text."""

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import longline

# No public module gives the parts of a pattern.
sre: Any = importlib.import_module("re._constants")
sre_parser: Any = importlib.import_module("re._parser")

ANCHORED = {
    "longline.model.discovery.candidate._ADDRESS": "match",
    "longline.model.urls.url._INTERNATIONAL_HOST": "match",
    "longline.model.urls.normalization._NAMES_HOST": "match",
    "longline.model.urls.url._SCHEME": "match",
    "longline.parsers.article.content_types._SLUG": "fullmatch",
    "longline.parsers.feeds.feed._ADDRESS_AND_NAME": "fullmatch",
    "longline.parsers.product.product._RATING": "fullmatch",
    "longline.html.article_text.marked_lines._NUMBER": "fullmatch",
    "longline.html.charset._XML": "match",
    "longline.html.loose_json._NEXT": "match",
    "longline.html.robots_meta._AGENT": "match",
    "longline.html.links._REFRESH": "match",
    "longline.html.type_sniffing._BEFORE_ROOT": "match",
    "longline.html.type_sniffing._HTML": "match",
    "longline.html.type_sniffing._JSON": "match",
    "longline.plugins.extension._NAME": "fullmatch",
    "longline.model.callers.door_setting._KEY": "fullmatch",
    "longline.model.recrawls.frequency._FORM": "fullmatch",
    "longline.surfaces.server.request_head._HOST": "match",
}
"""Patterns that are matched at the beginning of a text only, and the method of each."""

BOUNDED = {
    "longline.drivers.http.certificates._CERTIFICATE": "a file of the operator",
    "longline.drivers.records.named_queries._ROWS": "our own SQL",
    "longline.drivers.records.named_queries._PART": "our own SQL",
    "longline.drivers.records.named_queries._SWITCH": "our own SQL",
    "longline.model.duration._PART": "64 characters",
    "longline.model.timestamps._W3C": "256 characters",
    "longline.parsers.dates._FRACTION": "64 characters",
    "longline.parsers.dates._DATE_PATTERNS": "100 characters",
    "longline.parsers.dates._TIME": "100 characters",
    "longline.parsers.dates._ZONE": "64 characters",
    "longline.parsers.product.prices._AT_NUMBER": "200 characters",
    "longline.parsers.product.prices._NUMBER": "200 characters",
    "longline.html.article_text.boilerplate_phrases._PHRASE": "160 characters",
    "longline.settings.values._PASSWORD": "a setting of the operator",
    "longline.settings.values._SECRET_PART": "a setting of the operator",
    "longline.html.loose_json._TOKEN": "a script, up to the first token that no literal has",
}
"""Patterns that are never searched in a long external text, and the reason."""

SHORT, LONG = 300, 2400
MAX_RATIO = 30
"""Between these lengths a linear search takes eight times as long, a quadratic one 64 times."""

QUADRATIC = re.compile(rb"<script\b.*?</script", re.IGNORECASE | re.DOTALL)
"""A search of known cost, which measures the speed of the machine."""

LETTERS = " a1-.,/<\"'=&;:[{!x\n\t_%(" + "".join(map(chr, range(33, 127)))


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield every compiled pattern at the top of a module."""
    for module in pkgutil.walk_packages(longline.__path__, "longline."):
        if module.name.endswith("__main__"):
            continue
        for name, thing in vars(importlib.import_module(module.name)).items():
            for one in thing if isinstance(thing, tuple) else (thing,):
                if isinstance(one, re.Pattern):
                    yield f"{module.name}.{name}", one


def sample(tree: Any) -> str:
    """Return a text that the pattern roughly matches; its repeats occur once."""
    return "".join(_sample(op, said) for op, said in tree)


def _sample(op: Any, said: Any) -> str:
    if op is sre.LITERAL:
        return chr(said)
    if op is sre.BRANCH:
        return sample(said[1][0])
    if op is sre.IN or op is sre.NOT_LITERAL or op is sre.ANY:
        return _letters(op, said)[0]
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        return sample(said[2]) * max(int(said[0]), 1)
    if op is sre.SUBPATTERN:
        return sample(said[3])
    return sample(said) if op is sre.ATOMIC_GROUP else ""


def _letters(op: Any, said: Any) -> list[str]:
    if op is sre.NOT_LITERAL:
        return [c for c in LETTERS if ord(c) != said]
    if op is sre.ANY:
        return ["a"]
    fits = [c for c in LETTERS if _fits(said, c)]
    return fits or [chr(said[0][1] if said[0][0] is sre.LITERAL else said[0][1][0])]


def _fits(said: Any, letter: str) -> bool:
    """Return True if a character class has a letter; of the named classes only the usual ones are known."""
    negated = bool(said) and said[0][0] is sre.NEGATE
    named = {
        sre.CATEGORY_DIGIT: letter.isdigit(),
        sre.CATEGORY_SPACE: letter.isspace(),
        sre.CATEGORY_WORD: letter.isalnum() or letter == "_",
    }
    opposite = {sre.CATEGORY_NOT_DIGIT: 0, sre.CATEGORY_NOT_SPACE: 1, sre.CATEGORY_NOT_WORD: 2}
    found = False
    for op, part in said:
        if op is sre.LITERAL:
            found |= ord(letter) == part
        elif op is sre.RANGE:
            found |= part[0] <= ord(letter) <= part[1]
        elif op is sre.CATEGORY:
            found |= named[part] if part in named else not list(named.values())[opposite[part]]
    return found != negated


def repeats(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the text of each repeat, with the text that has to precede it."""
    for op, said in tree:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            inner = said[2]
            yield before, sample(inner)
            if len(inner) == 1 and inner[0][0] in (sre.IN, sre.NOT_LITERAL):
                yield from ((before, letter) for letter in _letters(*inner[0])[:8])
            yield from repeats(inner, before)
        elif op is sre.SUBPATTERN:
            yield from repeats(said[3], before)
        elif op is sre.ATOMIC_GROUP:
            yield from repeats(said, before)
        elif op is sre.BRANCH:
            for branch in said[1]:
                yield from repeats(branch, before)
        before += _sample(op, said)


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a beginning and the text that is repeated after it."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    tree = sre_parser.parse(text, flags)
    found = [(before, pump) for before, pump in dict.fromkeys(repeats(tree)) if pump]
    pumps = dict.fromkeys([*(p for _, p in found), *(b + p for b, p in found), *(b for b, _ in found), sample(tree)])
    yield from dict.fromkeys([*found, *(("", pump) for pump in pumps if pump)])


def seconds(pattern: re.Pattern[Any], how: str, attack: tuple[str, str], length: int, times: int = 3) -> float:
    text: Any = (attack[0] + attack[1] * (length // len(attack[1]) + 1))[:length] + "\x01"
    if isinstance(pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    taken = []
    for _ in range(times):
        started = time.process_time()
        if how == "search":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, how)(text)
        taken.append(time.process_time() - started)
    return min(taken)


@cache
def suspicious_seconds() -> float:
    """Return the time from which a search of the long text is measured again: a third of that of a quadratic search."""
    return seconds(QUADRATIC, "search", ("", "<script "), LONG) / 3


def is_linear(pattern: re.Pattern[Any], how: str, attack: tuple[str, str]) -> bool:
    """Return True if an attack fails; most fail at the first measurement, only the others are measured with care."""
    if seconds(pattern, how, attack, LONG, times=1) < suspicious_seconds():
        return True
    return seconds(pattern, how, attack, LONG) < MAX_RATIO * max(seconds(pattern, how, attack, SHORT), 1e-5)


@pytest.mark.parametrize(("name", "pattern"), [one for one in patterns() if one[0] not in BOUNDED])
def test_the_time_of_no_pattern_grows_faster_than_the_text(name: str, pattern: re.Pattern[Any]):
    how = ANCHORED.get(name, "search")
    assert [attack for attack in attacks(pattern) if not is_linear(pattern, how, attack)] == []


def test_the_lists_name_patterns_that_exist():
    assert {*ANCHORED, *BOUNDED} <= {name for name, _ in patterns()}


def test_the_attacks_find_patterns_of_quadratic_time():
    for pattern in (re.compile(rb"<meta[\t /][^>]*charset", re.IGNORECASE | re.DOTALL), QUADRATIC):
        assert not all(is_linear(pattern, "search", attack) for attack in attacks(pattern))
