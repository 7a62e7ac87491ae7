"""What runs of schedules came to, the rhythm of sources, and tallies, on either engine."""

from typing import Any

import msgspec

from longline.drivers.records.database import Row, Tx, struct
from longline.drivers.records.nouns import Noun
from longline.model.run import Brought, Fate, Note, Record, RunRow, Start, Survey
from longline.ports.records.rhythms import Rhythm


class HistoryRecords(Noun):
    """The runs of schedules."""

    async def named(self, uid: str) -> RunRow | None:
        return await self._one("run_by_uid", RunRow, uid=uid)

    async def find(self, schedule_id: int, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        return await self._all("runs_of_schedule", RunRow, schedule_id=schedule_id, limit=limit, offset=offset)

    async def record(self, schedule_id: int | None = None) -> Record:
        if schedule_id is None:
            [record] = await self._all("record_of_all", Record)
        else:
            [record] = await self._all("record_of_schedule", Record, schedule_id=schedule_id)
        return record

    async def brought(self, since: int) -> Brought:
        [brought] = await self._all("brought_since", Brought, since=since)
        return brought

    async def start(self, run_id: int) -> Start | None:
        async def work(tx: Tx) -> Start | None:
            first = await tx.one("first_task_of_run", run_id=run_id)
            if first is None:
                return None
            pages = {row["url"]: row["digest"] for row in await tx.all("start_pages_of_run", run_id=run_id)}
            return Start(first["url"], first["state"], first["reason"], first["error"], pages)

        return await self._database.read(work)

    async def survey(self, run_id: int) -> Survey:
        async def work(tx: Tx) -> Survey:
            pages = await tx.one("pages_of_run", run_id=run_id)
            statuses = await tx.all("statuses_of_run", run_id=run_id)
            errors = await tx.all("errors_of_run", run_id=run_id)
            fates = tuple(struct(row, Fate) for row in await tx.all("fates_of_run", run_id=run_id))
            return msgspec.structs.replace(_survey(pages, statuses, errors), fates=fates)

        return await self._database.read(work)

    async def note(self, run_id: int, note: Note) -> None:
        await self._write("note_run", id=run_id, **msgspec.structs.asdict(note))

    async def prune(self, keep: int, before: int, limit: int = 1000) -> int:
        async def work(tx: Tx) -> int:
            return len(await tx.all("prune_runs", keep=keep, before=before, limit=limit))

        return await self._database.transact(work)


def _survey(pages: Row | None, statuses: Any, errors: Any) -> Survey:
    counted: dict[str, Any] = {key: pages[key] for key in pages.keys()} if pages else {}  # noqa: SIM118 - a Row iterates over values
    return Survey(
        pages=counted.get("count", 0),
        bytes=counted.get("bytes", 0),
        untitled=counted.get("untitled", 0),
        mean_ms=counted.get("mean_ms"),
        least_ms=counted.get("least_ms"),
        most_ms=counted.get("most_ms"),
        statuses={str(row["status"]): row["count"] for row in statuses},
        errors=tuple((row["message"], row["count"], row["last_url"]) for row in errors),
    )


class RhythmRecords(Noun):
    """How sources change."""

    async def get(self, source_ref: str) -> Rhythm | None:
        async def work(tx: Tx) -> Rhythm | None:
            row = await tx.one("rhythm", source_ref=source_ref)
            return struct(row, Rhythm) if row else None

        return await self._database.read(work)

    async def keep(self, source_ref: str, rhythm: Rhythm) -> None:
        await self._write("keep_rhythm", source_ref=source_ref, **msgspec.structs.asdict(rhythm))

    async def forget(self, source_ref: str) -> None:
        await self._write("forget_rhythm", source_ref=source_ref)


class TallyRecords(Noun):
    """Numbers by name."""

    async def add(self, name: str, count: int) -> None:
        await self._write("add_tally", name=name, count=count)

    async def put(self, name: str, count: int) -> None:
        await self._write("put_tally", name=name, count=count)

    async def all(self) -> dict[str, int]:
        async def work(tx: Tx) -> dict[str, int]:
            return {row["name"]: row["count"] for row in await tx.all("tallies")}

        return await self._database.read(work)
