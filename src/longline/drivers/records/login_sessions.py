"""Logins of runs, on either engine."""

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.ports.login_sessions import SessionRow


class SessionRecords(Table):
    """Logins of runs."""

    async def get(self, run_id: int, name: str) -> SessionRow | None:
        return await self._one("session", SessionRow, run_id=run_id, name=name)

    async def put(self, run_id: int, name: str, number: int, locked: str) -> None:
        await self._write("put_session", run_id=run_id, name=name, number=number, locked=locked)

    async def drop_ended(self) -> int:
        async def look(tx: Transaction) -> bool:
            return await tx.one("ended_session") is not None

        async def work(tx: Transaction) -> int:
            return len(await tx.all("drop_ended_sessions"))

        # Looked for first: a write waits for SQLite's one writer, and most installations have no session at all.
        return await self._database.transact(work) if await self._database.read(look) else 0
