"""Workers: the processes that may own leases."""

from typing import Protocol

from longline.model.worker import WorkerRow


class Workers(Protocol):
    """Remembers who works."""

    async def join(self, name: str, roles: str, mark: str) -> WorkerRow:
        """Enter a process; the row's id is its name as an owner of leases."""
        ...

    async def beat(self, worker: WorkerRow) -> None:
        """Say that the process lives; one that was struck while it was stopped is entered again, under the same id."""
        ...

    async def leave(self, worker_id: int) -> None:
        """Strike a process that ended, or that was found dead."""
        ...

    async def silent(self, for_ms: int) -> list[WorkerRow]:
        """Those who did not beat for so long, by the engine's clock."""
        ...

    async def find(self) -> list[WorkerRow]:
        """Everybody who joined and did not leave."""
        ...
