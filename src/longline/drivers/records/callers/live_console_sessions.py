"""Logins at the console, on either engine."""

from collections.abc import Iterable

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.paging import AFTER_EVERY_ROW
from longline.drivers.records.row_structs import Table, struct
from longline.model.callers.console_session import ConsoleSessionRow, NewConsoleSession
from longline.model.errors import Unavailable


class ConsoleSessionRecords(Table):
    """Logins at the console."""

    async def add(self, session: NewConsoleSession) -> ConsoleSessionRow:
        facts = msgspec.structs.asdict(session) | {"role": session.role.value}

        async def work(tx: Transaction) -> Row | None:
            return await tx.one("add_console_session", **facts)

        row = await audited(self._database, "session", session.uid, work)
        if row is None:
            raise Unavailable("the login was not stored")
        return struct(row, ConsoleSessionRow)

    async def get(self, uid: str) -> ConsoleSessionRow | None:
        return await self._one("console_session", ConsoleSessionRow, uid=uid)

    async def in_force(self, uids: Iterable[str]) -> set[str]:
        async def work(tx: Transaction) -> set[str]:
            return {row["uid"] for row in await tx.batch("console_sessions_in_force", [(uid,) for uid in sorted(uids)])}

        return await self._database.read(work)

    async def find(self, *, limit: int = 100, before_id: int | None = None) -> list[ConsoleSessionRow]:
        before = AFTER_EVERY_ROW if before_id is None else before_id
        return await self._all("find_console_sessions", ConsoleSessionRow, limit=limit, before=before)

    async def of_subject(self, subject: str, kind: str, *, limit: int = 100) -> list[ConsoleSessionRow]:
        asked = {"subject": subject, "kind": kind, "limit": limit}
        return await self._all("console_sessions_of_subject", ConsoleSessionRow, **asked)

    async def choose_time_zone(self, subject: str, kind: str, time_zone: str) -> None:
        await self._write("choose_time_zone", subject=subject, kind=kind, time_zone=time_zone)

    async def touch(self, uid: str) -> None:
        await self._write("touch_console_session", uid=uid)

    async def remove(self, uid: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("remove_console_session", uid=uid) is not None

        return await audited(self._database, "session", uid, work)

    async def forget(self) -> None:
        await self._write("forget_console_sessions")
