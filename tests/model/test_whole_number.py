"""Whole numbers in external texts."""

import pytest

from longline.model.whole_number import whole_number, whole_numbers

LONG = "9" * 5_000


def test_digits_are_a_number():
    assert [whole_number(text) for text in ("0", "007", "9" * 18)] == [0, 7, 10**18 - 1]


@pytest.mark.parametrize("text", ["", " 1", "-1", "+1", "1.0", "1_0", "\u0663", "\u00b2", "9" * 19, LONG])
def test_any_other_text_is_no_number(text: str):
    assert whole_number(text) is None


def test_a_list_is_one_of_numbers_alone():
    assert whole_numbers(" 3, 4,,5 6", 4) == [3, 4, 5, 6]
    assert [whole_numbers(text, 4) for text in ("", " , ", "1 x", f"1 {LONG}", "1 2 3 4 5")] == [None] * 5
