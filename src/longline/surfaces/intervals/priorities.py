"""Priorities of URLs in the contract, from 1 to 10, and in the frontier."""

from typing import Annotated

from msgspec import Meta

from longline.model.frontier.task import DEFAULT_PRIORITY

USUAL_PRIORITY, MIN_PRIORITY, MAX_PRIORITY, PRIORITY_STEP = 5, 1, 10, 10

Priority = Annotated[int, Meta(ge=1, le=10, description="From 1 to 10; higher is sooner.")]


def to_internal_priority(priority: int) -> int:
    """Convert a contract priority (higher is sooner) to an internal one (lower is sooner)."""
    wanted = min(max(priority, MIN_PRIORITY), MAX_PRIORITY) if priority > 0 else USUAL_PRIORITY
    return DEFAULT_PRIORITY - (wanted - USUAL_PRIORITY) * PRIORITY_STEP


def to_contract_priority(priority: int) -> int:
    """Convert an internal priority to a contract priority."""
    found = USUAL_PRIORITY + (DEFAULT_PRIORITY - priority) // PRIORITY_STEP
    return min(max(found, MIN_PRIORITY), MAX_PRIORITY)
