"""Pages: fetched bytes in the archive, and facts about them."""

import msgspec


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


class PageRow(msgspec.Struct, frozen=True):
    """A page as stored; (segment, start, length) is its place in the archive.

    `body_of` is the task with the record of the body, when this record is a revisit of an unchanged page.
    """

    task_id: int
    run_id: int
    segment: str
    start: int
    length: int
    digest: str
    status: int
    content_type: str
    body_bytes: int
    fetched_at: int
    fetch_ms: int
    depth: int
    url: str
    title: str
    etag: str | None
    last_modified: str | None
    body_of: int | None
