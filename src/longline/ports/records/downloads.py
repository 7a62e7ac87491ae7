"""Downloads of runs and dead letters. Creation and replay are for `engine/lifecycle/` alone."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.downloads.dead_letter import DeadLetter, DeadLetterFilter
from longline.model.downloads.download import DownloadRow, NewDownload
from longline.model.frontier.task import NewTask
from longline.model.runs.run import NewRun
from longline.ports.records.frontier.frontier import TaskChange, TaskMove


class PlacedDownload(msgspec.Struct, frozen=True):
    """A download with the task that it becomes; scope and run of the task are set when its run is made."""

    task: NewTask
    download: NewDownload


class DownloadStore(Protocol):
    """Downloads, for reading."""

    async def get(self, task_id: int) -> DownloadRow | None:
        """Return one download."""
        ...

    async def find(self, run_id: int, *, after: int = 0, limit: int = 100) -> list[DownloadRow]:
        """Return downloads of a run in the order of admission, from behind the task `after`."""
        ...

    async def of_resources(self, run_id: int, resource_ids: Sequence[str]) -> list[DownloadRow]:
        """Return the downloads of these resources of a run."""
        ...


class DownloadAdmissionStore(Protocol):
    """Creation of runs of downloads, and their replay. Each call is one transaction."""

    async def begin(self, run: NewRun, downloads: Sequence[PlacedDownload], reason: str) -> int:
        """Make a run, start it and admit its downloads; return its id. Hosts must exist."""
        ...

    async def admit(self, run_id: int, downloads: Sequence[PlacedDownload]) -> int:
        """Admit further downloads to a run; return how many were new. Hosts must exist."""
        ...

    async def replay(
        self, change: TaskChange, wanted: DeadLetterFilter, after: int, limit: int
    ) -> tuple[list[TaskMove], int]:
        """Open the tasks of dead letters again, and mark the letters as replayed.

        Return the result for each task, and the number of the last letter that was looked at, 0 if there was none.
        """
        ...


class DeadLetterStore(Protocol):
    """Dead letters, for reading and purging."""

    async def get(self, number: int) -> DeadLetter | None:
        """Return one dead letter."""
        ...

    async def find(self, wanted: DeadLetterFilter, *, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """Return dead letters in the order of their numbers, from behind the number `after`."""
        ...

    async def of_tasks(self, task_ids: Sequence[int]) -> list[DeadLetter]:
        """Return all dead letters of some tasks, in the order of their numbers."""
        ...

    async def count(self, wanted: DeadLetterFilter) -> int:
        """Return the number of dead letters."""
        ...

    async def purge(self, before: int, limit: int) -> int:
        """Delete up to `limit` letters of failures before a time; return how many."""
        ...
