"""Pages, redirects and segments: facts about fetched pages, and their places in the archive."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.archive.page import PageRow, RedirectRow
from longline.model.archive.segment import SegmentRow


class PageStore(Protocol):
    """Pages, for reading. A page is written with the report of its task."""

    async def get(self, task_id: int) -> PageRow | None:
        """Return the page that a task fetched, or the body that is left of the page of a deleted task."""
        ...

    async def captures(self, host: str, key: bytes) -> list[PageRow]:
        """Return every capture of a URL, newest first; host and key are those of the URL's tasks."""
        ...

    async def of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[PageRow]:
        """Return pages of a run, by task."""
        ...

    async def count(self, run_id: int) -> int:
        """Return the number of pages of a run."""
        ...

    async def redirects_of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[RedirectRow]:
        """Return redirects of a run's tasks in task order; redirects of one task come together."""
        ...

    async def of_segment(self, segment_id: int) -> tuple[list[PageRow], list[RedirectRow]]:
        """Return the pages and redirects with records in a segment, in the order of the file."""
        ...

    async def revisits(self, *, after: int = 0, limit: int = 1000) -> list[PageRow]:
        """Return the pages without a body of their own, by task."""
        ...

    async def bodiless(self) -> list[PageRow]:
        """Return the pages that refer to the body of a task that no longer has that body."""
        ...

    async def later(self, task_id: int) -> list[PageRow]:
        """Return the pages fetched from the task's URL after the task's own page."""
        ...

    async def redirected_later(self, url: str, fetched_at: int) -> list[RedirectRow]:
        """Return the redirects that a URL answered with after a moment."""
        ...

    async def forget(self, task_ids: Sequence[int]) -> None:
        """Forget that these tasks hold the body of a URL: the next request for the URL is not conditional."""
        ...


class SegmentStore(Protocol):
    """Archive files. A segment becomes `stored` in the report that names its pages (`FrontierStore.report`)."""

    async def begin(self, key: str, owner: int) -> int:
        """Record that a segment is about to be written; return its id."""
        ...

    async def abandoned(self, owners: Sequence[int]) -> list[SegmentRow]:
        """Return segments that these dead owners began and never stored."""
        ...

    async def drop(self, segment_id: int) -> None:
        """Forget a segment that was never stored."""
        ...

    async def find(self, *, run_id: int | None = None) -> list[SegmentRow]:
        """Return stored segments (with pages of that run), oldest first."""
        ...
