"""Values of requests, and the contract's texts of the problems they may have."""

import re
from decimal import Decimal
from typing import Any

import pytest

from longline.surfaces.bots.field_types import Currency, HostNames, JobUuid, Moment, Price, QueryMoment

READ: list[tuple[Any, Any, Any]] = [
    (JobUuid, "550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
    (JobUuid, "{550E8400-E29B-41D4-A716-446655440000}", "550e8400-e29b-41d4-a716-446655440000"),
    (JobUuid, "550e8400e29b41d4a716446655440000", "550e8400-e29b-41d4-a716-446655440000"),
    (Price, 0, 0),
    (Price, Decimal("0.1"), 10),
    (Price, Decimal("1E+3"), 100_000),
    (Price, " 12 ", 1200),
    (Price, ".5", 50),
    (Price, "9999999999.99", 999_999_999_999),
    (Currency, "usd", "USD"),
    (HostNames, ["B.example", "*.a.example", "b.example"], ("*.a.example", "b.example")),
    (HostNames, [], ()),
    (Moment, "1970-01-02", 86_400_000),
    (Moment, "1970-01-01T02:00:00.5+02:00", 500),
    (QueryMoment, "1970-01-01T02:00:00 02:00", 0),
]


@pytest.mark.parametrize(("kind", "sent", "value"), READ)
def test_values_are_read(kind: Any, sent: Any, value: Any):
    found = kind.parse(sent)
    assert found == value
    assert isinstance(found, kind)


NOT_UUIDS: list[Any] = ["", "x", 7, None, [], "550e8400"]
NOT_NUMBERS: list[Any] = ["", "NaN", "1_000", "١٢", True, None, [], 1.5]

REFUSED: list[tuple[Any, Any, str]] = [
    *((JobUuid, odd, "Must be a valid UUID.") for odd in NOT_UUIDS),
    *((Price, odd, "A valid number is required.") for odd in NOT_NUMBERS),
    (Price, "1e99999999999999999999", "A valid number is required."),
    (Price, -1, "Ensure this value is greater than or equal to 0."),
    (Price, "1.230", "Ensure that there are no more than 2 decimal places."),
    (Price, 10**10, "Ensure that there are no more than 12 digits in total."),
    *((Currency, odd, "Currency must be 3-letter ISO code (e.g., USD, VND, EUR)") for odd in ("", "USDA", "ßa", 7)),
    *((HostNames, odd, "Expected a list of strings.") for odd in ("a", [7], None)),
    (HostNames, ["a"] * 101, "Ensure this field has no more than 100 elements."),
    (HostNames, ["a b"], "Enter valid host names, such as shop.example or *.shop.example."),
    (Moment, "soon", "Datetime has wrong format. Use ISO 8601, as in 2025-01-07T07:20:00Z."),
    (Moment, 7, "Datetime has wrong format. Use ISO 8601, as in 2025-01-07T07:20:00Z."),
    (Moment, "0001-01-01T00:00:00+23:59", "Datetime has wrong format. Use ISO 8601, as in 2025-01-07T07:20:00Z."),
]


@pytest.mark.parametrize(("kind", "sent", "text"), REFUSED)
def test_problems_have_the_contracts_text(kind: Any, sent: Any, text: str):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        kind.parse(sent)
