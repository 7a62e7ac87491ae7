"""Typed requests: values are read, and all problems of a request are reported together."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Self

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.request_reader import NotAnObject, NotJson, RequestReader, TextForms
from tests.surfaces.order import Order

READER = RequestReader(Order)


def problems(sent: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRequest) as caught:
        READER.body(msgspec.json.encode(sent))
    return [(problem.field, problem.kind) for problem in caught.value.problems]


def test_a_good_body_is_read():
    found = READER.body(b'{"name": "x", "even": 4, "kind": "b", "rate": 7, "more": 1}')
    assert found == Order(name="x", even=4, kind="b", rate=7)


def test_all_problems_are_named_together():
    assert problems({"count": "x", "even": 3}) == [("name", "missing"), ("count", "type"), ("even", "check")]
    assert problems({"name": "a", "on": True, "count": 0}) == [("count", "check")]


@pytest.mark.parametrize("sent", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"name": "\xed\xa0\x80"}'])
def test_a_body_that_is_not_json_is_refused(sent: bytes):
    with pytest.raises(NotJson):
        READER.body(sent)


@pytest.mark.parametrize("sent", [b"[]", b"null", b"1", b'"x"'])
def test_a_body_that_is_no_object_is_refused(sent: bytes):
    with pytest.raises(NotAnObject):
        READER.body(sent)


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


class Change(msgspec.Struct, kw_only=True):
    """A change with fields that need not be sent."""

    name: str | UnsetType = UNSET
    size: int | UnsetType | None = UNSET
    seen: ClassVar[list[Mapping[str, Any]]] = []

    @classmethod
    def problems_between(cls, sent: Mapping[str, Any]) -> Iterator[Problem]:
        cls.seen.append(dict(sent))
        yield from ()


def test_problems_between_fields_see_only_fields_that_were_sent(monkeypatch: pytest.MonkeyPatch):
    seen = list[Mapping[str, Any]]()
    monkeypatch.setattr(Change, "seen", seen)
    reader = RequestReader(Change)
    assert reader.body(b'{"size": null}') == Change(size=None)
    assert reader.text({"name": "x"}) == Change(name="x")
    assert seen == [{"size": None}, {"name": "x"}]


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
