"""Pages: what was fetched, and where in the archive it is."""

from typing import Protocol

from longline.model.page import PageRow


class Pages(Protocol):
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
