"""Retention: the deletion of runs, old tasks, events and unnamed segments, in pieces of bounded size.

Every piece is a short transaction. A kill between two pieces loses nothing: the next pass goes on. Several processes
may delete at once.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from longline.model.archive.segment import SegmentRow
from longline.model.runs.run import RunKind


class ExpiredRun(NamedTuple):
    """An ended run with its age; lists are in this order."""

    ended_at: int = 0
    id: int = 0


class DeletedPiece(NamedTuple):
    """The result of one piece: whether the run is gone, and the object of its log, to be deleted before the row."""

    is_gone: bool
    log_key: str | None = None
    is_deleted: bool = False
    """Whether this piece was the last one, and not that of another process."""


class OldTasks(NamedTuple):
    """Ended tasks of a standing run, and the objects of their results."""

    task_ids: tuple[int, ...]
    object_keys: tuple[str, ...]


class RetentionStore(Protocol):
    """Rows that are too old."""

    async def expired(
        self, kind: RunKind, scheduled: bool, before: int, after: ExpiredRun, limit: int
    ) -> list[ExpiredRun]:
        """Return ended runs of a kind, of schedules or not, that ended before a moment."""
        ...

    async def surplus(self, keep: int, after: int, limit: int) -> list[int]:
        """Return ended runs beyond the newest `keep` of their schedules, by id."""
        ...

    async def mark(self, run_id: int, *, forced: bool = False) -> str | None:
        """Mark an ended run as deleted, after which no list has it; return the reason where that is refused.

        A run stays while a sink has not got all its items, unless `forced`. Raise `NotFound` for an unknown
        run.
        """
        ...

    async def marked(self, after: int, limit: int) -> list[int]:
        """Return runs that are marked as deleted and are not gone yet, by id."""
        ...

    async def delete_piece(self, run_id: int, limit: int, *, without_log_object: bool = False) -> DeletedPiece:
        """Delete the next rows of a marked run; the run's own row goes last, after the object of its log."""
        ...

    async def standing_runs(self, *, bots: bool, after: int, limit: int) -> list[int]:
        """Return the standing runs of bots, or the others, by id."""
        ...

    async def old_tasks(self, run_id: int, before: int, after: int, limit: int) -> OldTasks:
        """Return tasks of a standing run that ended before a moment, by id."""
        ...

    async def delete_tasks(self, task_ids: Sequence[int]) -> int:
        """Delete ended tasks with their pages and events; the sums of their run stay. Return how many."""
        ...

    async def delete_events(self, before: int, limit: int) -> int:
        """Delete the oldest events from before a moment; return how many."""
        ...

    async def release_bodies(self, before: int, visited_before: int, after: int, limit: int) -> int:
        """Delete kept bodies that no page and no visit refers to, and visits of kept bodies before a moment.

        Return the last body that was looked at, 0 at the end. Bodies kept after `before` are not looked at: a worker
        may have read the visit and may still report a page with this body.
        """
        ...

    async def unnamed_segments(self, after: int, limit: int) -> list[SegmentRow]:
        """Return stored segments that no page, redirect or kept body names, by id."""
        ...

    async def delete_segment(self, segment_id: int) -> None:
        """Delete the row of an unnamed segment, after its object."""
        ...
