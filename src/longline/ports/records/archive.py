"""Pages: what was fetched, and where in the archive it is."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.archive.page import PageRow, RedirectRow
from longline.model.archive.segment import SegmentRow


class PageStore(Protocol):
    """Finds pages. They are written with the report of their tasks."""

    async def get(self, task_id: int) -> PageRow | None:
        """The page that a task fetched."""
        ...

    async def captures(self, host: str, key: bytes) -> list[PageRow]:
        """Every time that a URL was fetched, the last first; host and key are those of its tasks."""
        ...

    async def of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[PageRow]:
        """Pages of a run, by their tasks."""
        ...

    async def count(self, run_id: int) -> int:
        """How many pages a run has."""
        ...

    async def redirects_of_run(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[RedirectRow]:
        """Return redirects of a run's tasks in the order of the tasks; those of one task come together."""
        ...

    async def of_segment(self, segment_id: int) -> tuple[list[PageRow], list[RedirectRow]]:
        """Return the pages and redirects whose records are in a segment, in the order of the file."""
        ...

    async def revisits(self, *, after: int = 0, limit: int = 1000) -> list[PageRow]:
        """Return the pages that have no body of their own, by their tasks."""
        ...

    async def bodiless(self) -> list[PageRow]:
        """Return the pages that refer to the body of a task that no longer has that body."""
        ...

    async def later(self, task_id: int) -> list[PageRow]:
        """Return the pages that were fetched from the URL of this task later than its own."""
        ...

    async def redirected_later(self, url: str, fetched_at: int) -> list[RedirectRow]:
        """Return the redirects that a URL answered with after a moment."""
        ...

    async def forget(self, task_ids: Sequence[int]) -> None:
        """Forget that these tasks hold the body of a URL: the next request for it is not conditional."""
        ...


class SegmentStore(Protocol):
    """Remembers archive files. A segment becomes `stored` in the report that names its pages (`Frontier.report`)."""

    async def begin(self, key: str, owner: int) -> int:
        """Say that a segment is about to be written; its id."""
        ...

    async def abandoned(self, owners: Sequence[int]) -> list[SegmentRow]:
        """Segments that these owners, who are gone, began and never stored."""
        ...

    async def drop(self, segment_id: int) -> None:
        """Forget a segment that was never stored."""
        ...

    async def find(self, *, run_id: int | None = None) -> list[SegmentRow]:
        """Stored segments (with pages of that run), oldest first."""
        ...
