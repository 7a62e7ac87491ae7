"""Typed requests: what is read, and every problem of what cannot be read."""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from longline.surfaces.error_format import problem_text
from longline.surfaces.request_reader import (
    InvalidRequest,
    NotAnObject,
    NotJson,
    Problem,
    RequestReader,
    TextForms,
)


def _even(value: int) -> str | None:
    return "even numbers only" if value % 2 else None


class Inner(msgspec.Struct, frozen=True):
    """A part of a request."""

    size: Annotated[int, Meta(ge=1)]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A request with a field of every kind."""

    name: Annotated[str, Meta(min_length=1, max_length=5, pattern="^[a-z]*$")]
    count: Annotated[int, Meta(ge=0, le=10)] = 1
    even: Annotated[int, Meta(extra={"check": _even})] | None = None
    kind: Annotated[Literal["a", "b"], Meta(extra={"texts": {"choice": "no such kind: {value}"}})] = "a"
    tags: Annotated[list[str], Meta(min_length=1, max_length=2)] | None = None
    on: bool | UnsetType = UNSET
    at: datetime | None = None
    inner: Inner | None = None
    rate: str | int | float = ""

    @classmethod
    def problems_between(cls, sent: Mapping[str, Any]) -> Iterator[Problem]:
        if sent.get("on") is True and not sent.get("count", 1):
            yield Problem("count", "check", "count is needed when on")


READER = RequestReader(Order)


def problems(sent: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRequest) as caught:
        READER.body(msgspec.json.encode(sent))
    return [(problem.field, problem.kind) for problem in caught.value.problems]


def test_a_good_body_is_read():
    found = READER.body(b'{"name": "x", "even": 4, "kind": "b", "rate": 7, "more": 1}')
    assert found == Order(name="x", even=4, kind="b", rate=7)


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ({}, [("name", "missing")]),
        ({"name": None}, [("name", "null")]),
        ({"name": 7}, [("name", "type")]),
        ({"name": ""}, [("name", "too_short")]),
        ({"name": "aaaaaa"}, [("name", "too_long")]),
        ({"name": "A"}, [("name", "pattern")]),
        ({"name": "a", "count": -1}, [("count", "minimum")]),
        ({"name": "a", "count": 10**30}, [("count", "maximum")]),
        ({"name": "a", "count": True}, [("count", "type")]),
        ({"name": "a", "even": 3}, [("even", "check")]),
        ({"name": "a", "kind": "c"}, [("kind", "choice")]),
        ({"name": "a", "tags": []}, [("tags", "too_few")]),
        ({"name": "a", "tags": ["a", "b", "c"]}, [("tags", "too_many")]),
        ({"name": "a", "tags": ["a", 1]}, [("tags[1]", "type")]),
        ({"name": "a", "at": "soon"}, [("at", "type")]),
        ({"name": "a", "inner": {"size": 0}}, [("inner.size", "minimum")]),
        ({"name": "a", "inner": 7}, [("inner", "type")]),
        ({"name": "a", "rate": []}, [("rate", "type")]),
        ({"name": "a", "on": True, "count": 0}, [("count", "check")]),
        ({"count": "x", "even": 3}, [("name", "missing"), ("count", "type"), ("even", "check")]),
    ],
)
def test_every_problem_is_named(sent: Any, found: list[tuple[str, str]]):
    assert problems(sent) == found


@pytest.mark.parametrize("sent", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"name": "\xed\xa0\x80"}'])
def test_a_body_that_is_not_json_is_refused(sent: bytes):
    with pytest.raises(NotJson):
        READER.body(sent)


@pytest.mark.parametrize("sent", [b"[]", b"null", b"1", b'"x"'])
def test_a_body_that_is_no_object_is_refused(sent: bytes):
    with pytest.raises(NotAnObject):
        READER.body(sent)


def test_a_field_may_have_its_own_text_for_a_problem():
    with pytest.raises(InvalidRequest) as caught:
        READER.body(b'{"name": "a", "kind": "{c}"}')
    assert [problem_text(problem) for problem in caught.value.problems] == ["no such kind: {c}"]


def test_text_values_are_read_by_the_types_of_their_fields():
    sent = {"name": "a", "count": "3", "on": "TRUE", "rate": "x", "kind": "b"}
    assert READER.text(sent) == Order(name="a", count=3, on=True, rate="x", kind="b")
    with pytest.raises(InvalidRequest):
        READER.text({"name": "a", "count": "3.5"})


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ({"count": "11"}, 10),
        ({"count": "9" * 40}, 10),
        ({"count": "-1"}, 1),
        ({"count": "x"}, 1),
        ({"count": ""}, 1),
        ({"count": "1e1"}, 1),
        ({"count": "+5"}, 5),
        ({"count": "\u0663"}, 1),
        ({"count": "9" * 5000}, 1),
    ],
)
def test_lenient_values_fall_back(sent: dict[str, str], found: int):
    assert READER.lenient_text({"name": "a"} | sent).count == found


def test_lenient_choices_are_read_in_any_case():
    assert READER.lenient_text({"name": "a", "kind": "B"}).kind == "b"
    assert READER.lenient_text({"name": "a", "kind": "c"}).kind == "a"


# -- types that parse themselves, ignored fields, readings -------------------------------------------------------


class Cents(int):
    """An amount of money."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        if not isinstance(sent, str) or not sent.isdigit():
            raise ValueError("digits only")
        return cls(sent)


class Payment(msgspec.Struct, kw_only=True):
    """A payment, in money or not at all."""

    paid: bool
    amount: Cents | None = None
    tip: Cents | UnsetType = UNSET

    @classmethod
    def ignored_fields(cls, sent: Mapping[str, Any]) -> Collection[str]:
        return () if sent.get("paid") is True else ("amount",)

    @classmethod
    def problems_between(cls, sent: Mapping[str, Any]) -> Iterator[Problem]:
        if sent.get("paid") is True and sent.get("amount") is None:
            yield Problem("amount", "null" if "amount" in sent else "missing")


PAYMENTS = RequestReader(Payment)


def payment_problems(sent: bytes) -> list[Problem]:
    with pytest.raises(InvalidRequest) as caught:
        PAYMENTS.body(sent)
    return list(caught.value.problems)


def test_a_field_is_parsed_by_its_type():
    found = PAYMENTS.body(b'{"paid": true, "amount": "120"}')
    assert (found.amount, type(found.amount), found.tip) == (120, Cents, UNSET)
    assert payment_problems(b'{"paid": true, "amount": 7}') == [Problem("amount", "check", "digits only", 7)]
    assert payment_problems(b'{"paid": true, "amount": "1", "tip": null}') == [Problem("tip", "null")]


def test_problems_between_fields_know_null_from_missing():
    assert payment_problems(b'{"paid": true}') == [Problem("amount", "missing")]
    assert payment_problems(b'{"paid": true, "amount": null}') == [Problem("amount", "null")]
    assert [problem.field for problem in payment_problems(b'{"paid": true, "tip": 1}')] == ["tip", "amount"]


def test_a_field_without_effect_may_have_any_value():
    assert PAYMENTS.body(b'{"paid": false, "amount": []}') == Payment(paid=False)


def test_a_reading_reports_further_problems_with_its_own():
    more = Problem("tip", "check", "too much")
    good, bad = PAYMENTS.reading(b'{"paid": false}'), PAYMENTS.reading(b'{"paid": 1}')
    assert good.check() == Payment(paid=False)
    for reading, fields in ((good, ["tip"]), (bad, ["paid", "tip"])):
        with pytest.raises(InvalidRequest) as caught:
            reading.check([more])
        assert [problem.field for problem in caught.value.problems] == fields
    with pytest.raises(NotAnObject):
        PAYMENTS.reading(b"[]")


def test_unknown_fields_must_be_text_as_well():
    for odd in (b'{"paid": false, "x": "\xff"}', b'{"paid": false, "\xff": 1}', b'{"paid": false, "x": "\\ud800"}'):
        with pytest.raises(NotJson):
            PAYMENTS.body(odd)


def test_spellings_of_numbers_and_booleans_can_be_narrowed():
    forms = TextForms(re.compile("[0-9]"), ignores_case=False)
    assert READER.text({"name": "x", "count": "7", "on": "true"}, forms).on is True
    for name, text in (("count", "+7"), ("count", "10"), ("on", "True")):
        with pytest.raises(InvalidRequest):
            READER.text({"name": "x", name: text}, forms)
