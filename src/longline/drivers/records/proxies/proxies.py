"""Proxies and pools on either engine. The rules are in `model/proxies/`; rows go in and out here.

A pick first updates the single row of `turns`, which is both the number of the turn and the lock that serialises
picks; so rotation is strict and no hourly limit is exceeded, over any number of processes.
"""

import random
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TypeVar

import msgspec

from longline.drivers.records.callers.audit import audited, audited_many
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import struct
from longline.model.callers.audit import State
from longline.model.errors import Conflict, NotFound, Unavailable
from longline.model.proxies.pool_fallbacks import pools_in_order, proxies_from, tiers
from longline.model.proxies.proxy import (
    SKIP_AFTER_FAILURES,
    MappedProxy,
    MappingRow,
    MissingProxies,
    NewProxy,
    Picked,
    Pool,
    ProxyChange,
    ProxyFilter,
    ProxyRequest,
    ProxyRow,
    ProxySums,
    ProxyUse,
)
from longline.model.proxies.proxy_health import PROBE_INTERVAL_MS, ProxyCandidate, after, changed, mapping_after
from longline.model.proxies.proxy_selection import SLOT_MS, choose_several, first_slot

S = TypeVar("S", bound=msgspec.Struct)


class ProxyRecords:
    """Proxies, and their rotation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, proxy: NewProxy, *, is_alone: bool = False) -> ProxyRow | None:
        async def work(tx: Transaction) -> ProxyRow | None:
            if is_alone:
                await _alone(tx)
                if await _any(tx, "proxy_at", host=proxy.host, port=proxy.port):
                    return None
            row = await tx.one("add_proxy", **msgspec.structs.asdict(proxy))
            return struct(row, ProxyRow) if row else None

        return await audited(self._database, "proxy", lambda row: row.id if row else None, work)

    async def get(self, proxy_id: int) -> ProxyRow | None:
        async def work(tx: Transaction) -> ProxyRow | None:
            row = await tx.one("proxy", id=proxy_id)
            return struct(row, ProxyRow) if row else None

        return await self._database.read(work)

    async def find(
        self, wanted: ProxyFilter | None = None, *, limit: int = 50, offset: int = 0, after: int = 0
    ) -> list[ProxyRow]:
        asked = msgspec.structs.asdict(wanted or ProxyFilter()) | {"limit": limit, "offset": offset, "after": after}
        return await self._database.read(lambda tx: _all(tx, "find_proxies", ProxyRow, **asked))

    async def update(self, proxy_id: int, change: ProxyChange) -> ProxyRow | None:
        async def work(tx: Transaction) -> ProxyRow | None:
            rows = await _locked(tx, [proxy_id])
            if proxy_id not in rows:
                return None
            after_change = changed(rows[proxy_id], change)
            await _check_identity(tx, after_change)
            row = await tx.one("change_proxy", **msgspec.structs.asdict(after_change))
            return struct(row, ProxyRow) if row else None

        return await audited(self._database, "proxy", proxy_id, work)

    async def remove(self, proxy_id: int) -> bool:
        return await audited(self._database, "proxy", proxy_id, lambda tx: _any(tx, "remove_proxy", id=proxy_id))

    async def assign(self, source_id: int, proxies: Sequence[int], priority: int = 5) -> int:
        async def work(tx: Transaction) -> int:
            if await tx.one("source", id=source_id) is None:
                raise NotFound("source", source_id)
            ids = await _existing(tx, proxies)
            rows = [(proxy_id,) for proxy_id in ids]
            return len(await tx.batch("assign_proxies", rows, source_id=source_id, priority=priority))

        def audited_state(assigned: int) -> State | None:
            return {"source_id": source_id, "proxies": list(proxies), "priority": priority} if assigned else None

        return await audited_many(self._database, "proxy", audited_state, work)

    async def unassign(self, source_id: int, proxy_id: int) -> bool:
        pair = {"source_id": source_id, "proxy_id": proxy_id}

        def audited_state(gone: bool) -> State | None:
            return {"unassigned": pair} if gone else None

        return await audited_many(self._database, "proxy", audited_state, lambda tx: _any(tx, "unassign_proxy", **pair))

    async def switch(self, source_id: int, proxy_id: int, active: bool) -> MappingRow | None:
        async def work(tx: Transaction) -> MappingRow | None:
            row = await tx.one("switch_mapping", source_id=source_id, proxy_id=proxy_id, active=active)
            return struct(row, MappingRow) if row else None

        def audited_state(row: MappingRow | None) -> State | None:
            return {"source_id": source_id, "proxy_id": proxy_id, "active": active} if row else None

        return await audited_many(self._database, "proxy", audited_state, work)

    async def mappings(self, source_id: int) -> list[MappingRow]:
        return await self._database.read(lambda tx: _all(tx, "mappings_of_source", MappingRow, source_id=source_id))

    async def pick(self, ask: ProxyRequest) -> Picked:
        return await self._database.transact(partial(_pick, ask))

    async def account(self, used: Sequence[ProxyUse]) -> None:
        if used:
            await self._database.transact(partial(_account, used))

    async def due_probes(self, limit: int = 10) -> list[ProxyRow]:
        return await self._database.transact(
            lambda tx: _all(tx, "take_probes", ProxyRow, limit=limit, every=PROBE_INTERVAL_MS)
        )


class ProxyFigureRecords:
    """Figures of proxies."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, wanted: ProxyFilter | None = None) -> int:
        asked = msgspec.structs.asdict(wanted or ProxyFilter())

        async def work(tx: Transaction) -> int:
            row = await tx.one("count_proxies", **asked)
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def mapped(self, source_id: int, *, active: bool | None = None) -> list[MappedProxy]:
        asked = {"source_id": source_id, "active": active}
        return await self._database.read(lambda tx: _all(tx, "mapped_proxies", MappedProxy, **asked))

    async def mapped_pairs(self, pairs: Sequence[tuple[int, int]]) -> list[MappedProxy]:
        rows = await self._database.read(lambda tx: tx.batch("mapped_pairs", sorted(set(pairs))))
        return [struct(row, MappedProxy) for row in rows]

    async def sums(self, sources: Sequence[int]) -> dict[int, ProxySums]:
        async def work(tx: Transaction) -> dict[int, ProxySums]:
            rows = await tx.batch("proxy_sums", [(i,) for i in sorted(set(sources))], failing=SKIP_AFTER_FAILURES)
            return {row["source_id"]: struct(row, ProxySums) for row in rows}

        return await self._database.read(work)

    async def sources_of(self, proxies: Sequence[int]) -> dict[int, list[int]]:
        async def work(tx: Transaction) -> dict[int, list[int]]:
            found: dict[int, list[int]] = {}
            for row in await tx.batch("sources_of_proxies", [(i,) for i in sorted(set(proxies))]):
                found.setdefault(row["proxy_id"], []).append(row["source_id"])
            return found

        return await self._database.read(work)


class PoolRecords:
    """Named pools."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, pools: Sequence[Pool]) -> None:
        async def work(tx: Transaction) -> None:
            await _alone(tx)
            for pool in pools:
                await _write_pool(tx, pool)
            await _check_pools(tx)

        def audited_state(_: None) -> State:
            return {"pools": [msgspec.to_builtins(pool) for pool in pools]}

        await audited_many(self._database, "pool", audited_state, work)

    async def find(self) -> list[Pool]:
        return await self._database.read(_pools)

    async def working(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            rows = await tx.all("working_proxies_of_pools", skip_after=SKIP_AFTER_FAILURES)
            return {row["name"]: row["count"] for row in rows}

        return await self._database.read(work)

    async def drop(self, name: str) -> bool:
        async def work(tx: Transaction) -> bool:
            await _alone(tx)
            gone = await _any(tx, "drop_pool", name=name)
            await _check_pools(tx)
            return gone

        return await audited_many(self._database, "pool", lambda gone: {"deleted": name} if gone else None, work)


async def _all(tx: Transaction, query: str, shape: type[S], /, **params: object) -> list[S]:
    return [struct(row, shape) for row in await tx.all(query, **params)]


async def _any(tx: Transaction, query: str, /, **params: object) -> bool:
    return await tx.one(query, **params) is not None


async def _locked(tx: Transaction, proxies: Sequence[int]) -> dict[int, ProxyRow]:
    rows = await tx.batch("lock_proxies", [(proxy_id,) for proxy_id in sorted(set(proxies))])
    return {row["id"]: struct(row, ProxyRow) for row in rows}


async def _check_identity(tx: Transaction, row: ProxyRow) -> None:
    identity = {"scheme": row.scheme, "host": row.host, "port": row.port, "username": row.username}
    other = await tx.one("same_proxy", **identity)
    if other is not None and other["id"] != row.id:
        raise Conflict(f"there is already such a proxy at {row.host}:{row.port}")


async def _existing(tx: Transaction, proxies: Sequence[int]) -> list[int]:
    """Return these proxies, each once and locked against removal; raise `MissingProxies` when one is missing."""
    wanted = list(dict.fromkeys(proxies))
    there = await _locked(tx, wanted)
    if missing := [proxy_id for proxy_id in wanted if proxy_id not in there]:
        raise MissingProxies(missing)
    return wanted


# Picking


async def _pick(ask: ProxyRequest, tx: Transaction) -> Picked:
    turn = await tx.one("take_turns", wanted=ask.wanted)
    if turn is None:
        raise Unavailable("the table of turns has lost its row")
    dealt, size, mapped = await _deal(tx, ask)
    if not dealt:
        return Picked((), size, mapped, ask.pool is not None)
    first = int(turn["last"]) - ask.wanted + 1
    # A proxy that was dealt twice waits behind its later turn.
    turns = {proxy_id: first + place for place, proxy_id in enumerate(dealt)}
    rows = await _locked(tx, dealt)
    await _stamp(tx, turns, Counter(dealt), ask.source_id if mapped else None)
    stamped = {i: msgspec.structs.replace(row, last_used_at=tx.now, turn=turns[i]) for i, row in rows.items()}
    picked = tuple(stamped[i] for i in dealt if i in stamped)
    return Picked(picked, size, mapped, ask.pool is not None)


async def _deal(tx: Transaction, ask: ProxyRequest) -> tuple[list[int], int, bool]:
    """Return ids in the order of their turns, the size of their pool, and whether the pool is the source's own."""
    slot, own = first_slot(tx.now), list[ProxyCandidate]()
    if ask.source_id is not None:
        own = await _all(tx, "candidates_of_source", ProxyCandidate, source_id=ask.source_id, slot=slot)
    match proxies_from(ask, has_own=bool(own)):
        case "own":
            return choose_several(own, ask, tx.now, random.randrange), len(own), True
        case "all":
            everybody = await _all(tx, "candidates_of_all", ProxyCandidate, slot=slot, shared=ask.shared)
            return choose_several(everybody, ask, tx.now, random.randrange), len(everybody), False
    levels = pools_in_order(ask, await _pools(tx))
    size = len({proxy_id for tier in levels for proxy_id in tier.proxies})
    for tier in levels:
        members = await _all(tx, "candidates_of_pool", ProxyCandidate, pool=tier.name, slot=slot)
        if dealt := choose_several(members, ask, tx.now, random.randrange):
            return dealt, size, False
    return [], size, False


async def _stamp(tx: Transaction, turns: dict[int, int], counts: Counter[int], source_id: int | None) -> None:
    slot, order = tx.now // SLOT_MS, sorted(turns)
    await tx.batch("use_proxies", [(i, turns[i]) for i in order])
    if source_id is not None:
        await tx.batch("use_mappings", [(i, turns[i]) for i in order], source_id=source_id)
    await tx.batch("count_uses", [(i, counts[i]) for i in order], slot=slot)
    await tx.batch("drop_old_uses", [(i,) for i in order], slot=first_slot(tx.now))


# Accounting


async def _account(used: Sequence[ProxyUse], tx: Transaction) -> None:
    proxies = await _locked(tx, [one.proxy_id for one in used])
    pairs = sorted({(one.source_id, one.proxy_id) for one in used if one.source_id is not None})
    found = [struct(row, MappingRow) for row in await tx.batch("lock_mappings", pairs)]
    mappings = {(row.source_id, row.proxy_id): row for row in found}
    for one in used:
        if one.proxy_id in proxies:
            proxies[one.proxy_id] = after(proxies[one.proxy_id], one)
        pair = (one.source_id or 0, one.proxy_id)
        if pair in mappings:
            mappings[pair] = mapping_after(mappings[pair], one)
    await tx.batch("account_proxies", [_figures(row) for _, row in sorted(proxies.items())])
    await tx.batch(
        "account_mappings",
        [
            (m.id, m.active, m.success_count, m.failure_count, m.total_failures, m.avg_ms)
            for m in sorted(mappings.values(), key=lambda m: m.id)
        ],
    )


def _figures(row: ProxyRow) -> tuple[object, ...]:
    return (
        row.id,
        row.active,
        row.disabled_reason,
        row.failure_count,
        row.success_count,
        row.total_failures,
        row.last_success_at,
        row.last_failure_at,
        row.avg_ms,
        row.probe_at,
    )


# Pools


async def _alone(tx: Transaction) -> None:
    # Two concurrent writes could each be valid and together not: pools in a ring, proxies at one address.
    await tx.all("take_turns", wanted=0)


async def _write_pool(tx: Transaction, pool: Pool) -> None:
    proxies = await _existing(tx, pool.proxies)
    row = await tx.one("keep_pool", name=pool.name, fallbacks=msgspec.json.encode(pool.fallbacks).decode())
    if row is None:
        raise Unavailable(f"the pool {pool.name} was not stored")
    await tx.all("empty_pool", pool_id=row["id"])
    await tx.batch("fill_pool", [(i, place) for place, i in enumerate(proxies)], pool_id=row["id"])


async def _pools(tx: Transaction) -> list[Pool]:
    pools: dict[str, Pool] = {}
    for row in await tx.all("find_pools"):
        name = row["name"]
        pool = pools.get(name) or Pool(name, (), tuple(msgspec.json.decode(row["fallbacks"], type=list[str])))
        member = () if row["proxy_id"] is None else (row["proxy_id"],)
        pools[name] = msgspec.structs.replace(pool, proxies=(*pool.proxies, *member))
    return list(pools.values())


async def _check_pools(tx: Transaction) -> None:
    pools = await _pools(tx)
    for pool in pools:
        tiers(pool.name, pools)
