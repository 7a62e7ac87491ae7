"""The automatic schedule of a source: its interval, priority and first run, by the settings of the source."""

import re

from longline.model.back_off import back_off
from longline.model.schedules.schedule import ScheduleSpec
from longline.model.sources.source import CrawlSource

INTERVAL_AND_PRIORITY = {"critical": (15, 100), "high": (30, 75), "normal": (60, 50), "low": (180, 25)}
"""Minutes between runs, and numeric priority, by the name of the priority."""

FIRST_RUN_DELAY_MS = {"critical": 0, "high": 60_000, "normal": 300_000, "low": 600_000}
"""Delay of the first run of a source that another service has created, by the name of the priority."""

STAGGER_MS = 300_000
"""Time between the first runs of two sources that are synchronised together."""

MAX_INTERVAL_MINUTES = 1440

DEFAULT_RATE_LIMIT = 10


def automatic_schedule(source: CrawlSource) -> ScheduleSpec:
    """Return the automatic schedule for a source's settings."""
    base, priority = INTERVAL_AND_PRIORITY.get(source.priority, INTERVAL_AND_PRIORITY["normal"])
    return ScheduleSpec(
        url=source.url,
        source_ref=source.ref,
        source_name=source.name,
        every=interval_minutes(base, leading_number(source.rate_limit), source.max_depth),
        enabled=True,
        priority=priority,
        automatic=True,
    )


def first_run_delay_ms(source: CrawlSource) -> int:
    """Return the delay of the first run of a new source."""
    return FIRST_RUN_DELAY_MS.get(source.priority, FIRST_RUN_DELAY_MS["normal"])


def stagger_ms(ref: str, count: int) -> int:
    """Return the delay of the first run of a source that is synchronised with others, `count` sources in all."""
    return fnv1a(ref) % count * STAGGER_MS


def interval_minutes(base: int, rate: int, depth: int, failures: int = 0) -> int:
    """Return the minutes between runs: more for low rate limits and deep crawls, doubled with every failure."""
    rate = rate if rate > 0 else DEFAULT_RATE_LIMIT
    times, by = (3, 2) if rate <= 5 else (1, 1) if rate <= 10 else (3, 4) if rate <= 20 else (1, 2)
    paced = base * times // by
    times, by = (1, 1) if depth <= 2 else (5, 4) if depth <= 5 else (3, 2)
    return back_off(paced * times // by, failures, MAX_INTERVAL_MINUTES)


def leading_number(text: str) -> int:
    """Return the number at the start of a rate limit; `DEFAULT_RATE_LIMIT` when there is none."""
    found = re.match(r"\s*(\d{1,9})", text)
    return int(found[1]) if found else DEFAULT_RATE_LIMIT


def fnv1a(text: str) -> int:
    """Return the 32-bit FNV-1a hash: every process computes the same stagger for the same source."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value
