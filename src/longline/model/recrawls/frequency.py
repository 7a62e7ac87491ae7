"""Frequencies of recrawls: a number and a unit, such as `12 hours`."""

import re

from longline.model.errors import BadInput

DEFAULT_FREQUENCY = "1 day"

UNIT_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
    "year": 31_536_000,
}
"""Seconds of each unit; a month has 30 days and a year 365."""

MAX_FREQUENCY_MS = 100 * UNIT_SECONDS["year"] * 1000
_FORM = re.compile(r"\s*(\d{1,9})\s+([A-Za-z]+)\s*")


def frequency_ms(text: str) -> int:
    """Return the milliseconds of a frequency; raise `BadInput` for a text of another form."""
    found = _FORM.fullmatch(text)
    unit = found[2].lower().removesuffix("s") if found else ""
    number = int(found[1]) if found else 0
    every_ms = number * UNIT_SECONDS.get(unit, 0) * 1000
    if not 0 < every_ms <= MAX_FREQUENCY_MS:
        units = ", ".join(UNIT_SECONDS)
        raise BadInput(f"a frequency is a number and a unit of {units}, such as 12 hours, not {text!r}")
    return every_ms


def frequency_text(text: str) -> str:
    """Return a valid frequency with one blank and its unit in small letters, singular for one."""
    frequency_ms(text)
    number, unit = text.split()
    unit = unit.lower().removesuffix("s")
    return f"{int(number)} {unit}" if int(number) == 1 else f"{int(number)} {unit}s"
