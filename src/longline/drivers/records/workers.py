"""Workers that are alive."""

import msgspec

from longline.drivers.records.row_structs import Table, struct
from longline.model.frontier.worker import WorkerRow


class WorkerRecords(Table):
    """Workers."""

    async def join(self, name: str, roles: str, mark: str, parsers: str = "[]") -> WorkerRow:
        row = await self._make("join_worker", name=name, roles=roles, mark=mark, parsers=parsers)
        return struct(row, WorkerRow)

    async def beat(self, worker: WorkerRow) -> None:
        await self._write("beat_worker", **msgspec.structs.asdict(worker))

    async def remove(self, worker_id: int) -> None:
        await self._write("leave_worker", id=worker_id)

    async def find(self) -> list[WorkerRow]:
        return await self._all("find_workers", WorkerRow)

    async def silent(self, for_ms: int) -> list[WorkerRow]:
        return await self._all("silent_workers", WorkerRow, for_ms=for_ms)
