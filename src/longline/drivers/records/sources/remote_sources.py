"""Sources that another service keeps, on either engine."""

from collections.abc import Collection, Sequence

import msgspec

from longline.drivers.records.database import Transaction, TryAgain
from longline.drivers.records.feeds.feeds import write_progress
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.sources.sources import add_source
from longline.model.feeds.feed_poll import FeedRow
from longline.model.sources.remote_source import GONE, distinct_name, feed_followed, followed, withdrawn
from longline.model.sources.source import NewSource, RemoteSource, SourceRow

BATCH_SIZE = 100
"""Largest number of sources changed in one transaction."""

UNSYNCED_COLUMNS = (
    *("created_at", "updated_at", "budget", "admitted", "ref", "uid", "slug", "extension", "user_agent"),
    *("delay_ms", "concurrency", "proxy_pools", "succeeded_at", "failed_at", "failures"),
    *("robots_url", "robots_text", "robots_fetched_at"),
)
"""Columns that a source manager does not set."""


class RemoteSourceRecords(Table):
    """Sources of a source manager."""

    async def get(self, ref: str) -> SourceRow | None:
        return await self._one("remote_source", SourceRow, ref=ref)

    async def take(self, sources: Sequence[RemoteSource], asked_at: int) -> int:
        async def look(tx: Transaction) -> dict[str, SourceRow]:
            rows = await tx.batch("remote_sources", [(said.ref,) for said in sources])
            return {row["ref"]: struct(row, SourceRow) for row in rows}

        known = await self._database.read(look)
        news = [said for said in sources if said.ref not in known or _differs(known[said.ref], said)]
        taken = 0
        for start in range(0, len(news), BATCH_SIZE):
            piece = news[start : start + BATCH_SIZE]

            async def work(tx: Transaction, piece: Sequence[RemoteSource] = piece) -> int:
                return sum([await _take(tx, said, asked_at) for said in piece])

            taken += await self._database.transact(work)
        return taken

    async def present(self) -> list[str]:
        async def work(tx: Transaction) -> list[str]:
            return [row["ref"] for row in await tx.all("remote_refs", gone=GONE)]

        return await self._database.read(work)

    async def withdraw(self, refs: Collection[str]) -> None:
        async def work(tx: Transaction) -> None:
            for ref in refs:
                row = await tx.one("lock_remote_source", ref=ref)
                if row is not None:
                    await _write(tx, withdrawn(struct(row, SourceRow), tx.now))

        await self._database.transact(work)

    async def claim(self, limit: int, hold_ms: int) -> list[SourceRow]:
        async def work(tx: Transaction) -> list[SourceRow]:
            return [struct(row, SourceRow) for row in await tx.all("claim_unreported", limit=limit, hold=hold_ms)]

        return await self._database.transact(work)

    async def release(self, sources: Sequence[SourceRow]) -> None:
        async def work(tx: Transaction) -> None:
            await tx.batch("release_unreported", sorted((source.id,) for source in sources))

        await self._database.transact(work)

    async def mark_reported(self, source: SourceRow) -> None:
        since = source.feed_disabled_at
        await self._write("mark_feed_reported", id=source.id, feed_url=source.feed_url, feed_disabled_at=since)


def _differs(row: SourceRow, said: RemoteSource) -> bool:
    return followed(row, said) != row


async def _take(tx: Transaction, said: RemoteSource, asked_at: int) -> bool:
    row = await tx.one("lock_remote_source", ref=said.ref)
    if row is not None and row["updated_at"] >= asked_at:
        return False
    known = struct(row, SourceRow) if row else await _adopted(tx, said)
    before = known or await _begun(tx, said)
    after = msgspec.structs.replace(followed(before, said), name=await _free(tx, said, before.id))
    if after == before:
        return False
    await _write(tx, after)
    if known is not None:
        await _follow_feed(tx, before, after)
    return True


async def _adopted(tx: Transaction, said: RemoteSource) -> SourceRow | None:
    row = await tx.one("adopt_source", ref=said.ref, name=said.name)
    return struct(row, SourceRow) if row else None


async def _begun(tx: Transaction, said: RemoteSource) -> SourceRow:
    name = await _free(tx, said, None)
    made = await add_source(tx, NewSource(name, said.base_url, ref=said.ref))
    if made is None:
        raise TryAgain  # another process has just added the source
    return struct(made, SourceRow)


async def _free(tx: Transaction, said: RemoteSource, source_id: int | None) -> str:
    """Return the name of a source, followed by its reference where another source has the name."""
    other = await tx.one("source_by_name", name=said.name)
    return said.name if other is None or other["id"] == source_id else distinct_name(said.name, said.ref)


async def _follow_feed(tx: Transaction, before: SourceRow, after: SourceRow) -> None:
    row = await tx.one("feed", source_id=before.id)
    if row is not None:
        feed = struct(row, FeedRow)
        changed = feed_followed(feed, tx.now, before, after)
        if changed != feed:
            await write_progress(tx, changed)
        elif after.feed_every_ms != before.feed_every_ms:
            await tx.all("repace_feed", source_id=after.id, every_ms=after.feed_every_ms)


async def _write(tx: Transaction, source: SourceRow) -> None:
    facts = msgspec.structs.asdict(source)
    await tx.all("change_remote_source", **{name: fact for name, fact in facts.items() if name not in UNSYNCED_COLUMNS})
