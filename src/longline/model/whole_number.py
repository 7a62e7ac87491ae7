"""Whole numbers in texts from outside: Python refuses to convert a few thousand digits, and databases store 64 bits."""

MAX_DIGITS = 18
"""Most digits of a number that fits 64 bits whatever its digits are."""


def whole_number(text: str) -> int | None:
    """Return the number of a text of 1 to 18 ASCII digits; None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS else None


def whole_numbers(text: str, most: int) -> list[int] | None:
    """Return the numbers in a text, split by spaces or commas; None for more than `most`, or for other words."""
    found = [whole_number(word) for word in text.replace(",", " ").split()]
    numbers = [number for number in found if number is not None]
    return numbers if numbers and len(numbers) == len(found) <= most else None
