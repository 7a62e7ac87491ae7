"""Words of tasks: a status for each phase of a recrawl, and the message of an error."""

from collections.abc import Mapping

from longline.model.frontier.reasons import FINAL, RETRYABLE, SKIPPED
from longline.model.recrawls.recrawl_lists import Phase, RecrawlRow
from longline.surfaces.products.field_types import TaskStatus

STATUSES: Mapping[Phase, TaskStatus] = {
    "waiting": "pending",
    "ready": "queued",
    "in_hand": "crawling",
    "downloaded": "downloaded",
    "queued_parse": "queued_parse",
    "parsing": "parsing",
    "completed": "completed",
    "failed": "failed",
    "paused": "paused",
    "cancelled": "cancelled",
}
PHASES_BY_STATUS: Mapping[TaskStatus, Phase] = {status: phase for phase, status in STATUSES.items()}
WORD_ORDER: tuple[Phase, ...] = tuple(PHASES_BY_STATUS[status] for status in sorted(PHASES_BY_STATUS))
"""Phases in the alphabetical order of their words, by which a list is sorted."""

ROBOTS = "Disallowed by robots.txt"
NO_PROXIES = "NO_PROXIES_AVAILABLE"
_MEANINGS = RETRYABLE | FINAL | SKIPPED


def error_message(row: RecrawlRow) -> str | None:
    """Return the last error of a task."""
    if row.reason == "robots":
        return ROBOTS
    if row.reason == "proxy_exhausted":
        return f"{NO_PROXIES}: {row.error}" if row.error else NO_PROXIES
    return row.error or _MEANINGS.get(row.reason or "")


def by_status(counts: dict[str, int]) -> dict[TaskStatus, int]:
    """Return the number of tasks of each status, without those that no task has."""
    return {status: counts[phase] for phase, status in STATUSES.items() if counts.get(phase)}
