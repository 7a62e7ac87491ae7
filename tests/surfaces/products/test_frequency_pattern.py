"""The frequencies that the OpenAPI document allows are those that the API takes."""

import re

import pytest

from longline.model.recrawls.frequency import UNIT_SECONDS
from longline.surfaces.products.field_types import Frequency

PATTERN = re.compile(Frequency.json_schema["pattern"])


@pytest.mark.parametrize("unit", UNIT_SECONDS)
def test_every_unit_is_documented_and_no_documented_number_is_refused(unit: str):
    assert PATTERN.fullmatch(f"1 {unit}")
    largest = next(10**digits - 1 for digits in range(12, 0, -1) if PATTERN.fullmatch(f"{10**digits - 1} {unit}s"))
    for text in (f"1 {unit}", f"2 {unit}s", f"{largest} {unit}s"):
        assert Frequency.parse(text) == text
    assert not PATTERN.fullmatch(f"0 {unit}s")
