"""Durations: units in milliseconds, and durations as people write them: `500ms`, `30s`, `1h2m3s`."""

import re

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
DAY_SECONDS = DAY_MS // 1000

MAX_CHARACTERS = 64


def parse_duration(text: str) -> float:
    """Return the seconds in a text; a bare number counts seconds. Raise `ValueError` for any other text."""
    text = text.strip().lower()
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"not a duration: {text[:MAX_CHARACTERS]}...")
    if text.isascii() and text.replace(".", "", 1).isdecimal():
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"not a duration: {text}")
    return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))


def show_duration(seconds: float) -> str:
    """Return seconds as text that `parse_duration` reads back."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:g}ms"
    if seconds < 60 or seconds != int(seconds):
        return f"{seconds:.10g}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return "".join(f"{n}{unit}" for n, unit in ((hours, "h"), (minutes, "m"), (rest, "s")) if n)
