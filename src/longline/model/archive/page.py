"""Pages: fetched bytes in the archive, and facts about them."""

import msgspec

from longline.model.frontier.task import PageFacts

MAX_DECODED_BYTES = 64 * 1024 * 1024
"""Largest decoded body of an archived page that is read again, in bytes."""


class RedirectRow(msgspec.Struct, frozen=True):
    """A redirect on the way to a task's page; (segment, start, length) is the place of its record."""

    task_id: int
    run_id: int
    segment: str
    start: int
    length: int
    digest: str
    fetched_at: int
    url: str


class PageRow(PageFacts, frozen=True, kw_only=True):
    """A page as stored; `segment` is the key of the segment with its record."""

    task_id: int
    run_id: int
    segment: str
    depth: int
