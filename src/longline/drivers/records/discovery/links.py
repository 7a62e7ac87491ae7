"""Links that lead away from their sources, on either engine."""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from longline.drivers.records.callers.audit import audited, audited_many
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.like_patterns import contains
from longline.drivers.records.paging import counted
from longline.drivers.records.row_structs import struct
from longline.model.callers.audit import State
from longline.model.discovery.link import DomainQuery, DomainRow, LinkDetails, LinkQuery, LinkRow, NewLink, domain_of
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.ids import new_id
from longline.model.urls.normalization import dedupe_key, percent_normalized
from longline.model.urls.url import parse


class LinkRecords:
    """Links and domains."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, links: Sequence[NewLink]) -> int:
        return await self._database.transact(lambda tx: save_links(tx, links))

    async def update_from_pages(self, pages: Sequence[LinkDetails]) -> int:
        return await self._database.transact(lambda tx: update_links(tx, pages)) if pages else 0

    async def find(self, query: LinkQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[LinkRow], int]:
        async def work(tx: Transaction) -> tuple[list[LinkRow], int]:
            rows, total = await counted(tx, "find_links", _links_asked(query), limit, offset)
            return [struct(row, LinkRow) for row in rows], total

        return await self._database.read(work)

    async def get(self, uid: str) -> LinkRow | None:
        async def work(tx: Transaction) -> LinkRow | None:
            row = await tx.one("find_links", limit=1, offset=0, **_links_asked(LinkQuery(), uid))
            return struct(row, LinkRow) if row else None

        return await self._database.read(work)

    async def take(self, uid: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("take_link", uid=uid) is not None

        return await self._database.transact(work)

    async def remove(self, uid: str) -> bool:
        async def work(tx: Transaction) -> bool:
            return await tx.one("remove_link", uid=uid) is not None

        return await audited(self._database, "link", uid, work)

    async def domains(self, query: DomainQuery, *, limit: int = 25, offset: int = 0) -> tuple[list[DomainRow], int]:
        async def work(tx: Transaction) -> tuple[list[DomainRow], int]:
            rows, total = await counted(tx, "find_domains", _domains_asked(query), limit, offset)
            return await _known(tx, [struct(row, DomainRow) for row in rows]), total

        return await self._database.read(work)

    async def judge(self, domains: Sequence[str], status: str, notes: str | None) -> int:
        async def work(tx: Transaction) -> int:
            rows = [(domain,) for domain in sorted(set(domains))]
            return len(await tx.batch("judge_domains", rows, status=status, notes=notes))

        def audited_state(judged: int) -> State | None:
            return {"domains": list(domains), "status": status, "notes": notes} if judged else None

        return await audited_many(self._database, "domain", audited_state, work)


async def save_links(tx: Transaction, links: Sequence[NewLink]) -> int:
    """Store links, each URL once for a run, because a statement may not change a row twice; return their number."""
    by_run: defaultdict[int, dict[bytes, NewLink]] = defaultdict(dict)
    for link in links:
        by_run[link.run_id][_key(link.url)] = link
    for run_id, found in sorted(by_run.items()):
        rows = [_row(link) for _, link in sorted(found.items())]
        await tx.batch("save_links", rows, run_id=run_id, priority=DEFAULT_PRIORITY)
        await tx.batch("fill_links", [_visited(link.url) for _, link in sorted(found.items())])
    return sum(map(len, by_run.values()))


async def update_links(tx: Transaction, pages: Sequence[LinkDetails]) -> int:
    """Write the facts of pages to the links that lead to them; return the number of links."""
    learnt = {_key(page.url): (page.status, page.content_type) for page in pages}
    return len(await tx.batch("learn_links", [(key, *learnt[key]) for key in sorted(learnt)]))


def _key(url: str) -> bytes:
    return sha256(percent_normalized(url).encode()).digest()


def _visited(url: str) -> tuple[bytes, str, bytes]:
    """Return the key of a link, and the host and key under which a visit to its page is remembered."""
    parsed = parse(url)
    return _key(url), parsed.host, dedupe_key(parsed.href)


def _row(link: NewLink) -> tuple[str, bytes, str, str, int, str]:
    return new_id(), _key(link.url), link.url, link.parent_url, link.depth, domain_of(link.url)


def _links_asked(query: LinkQuery, uid: str | None = None) -> dict[str, Any]:
    asked = msgspec.structs.asdict(query)
    taken = None if query.taken is None else int(query.taken)
    direction = 1 if asked.pop("rising") else -1
    return asked | {"uid": uid, "taken": taken, "direction": direction, "search": contains(query.search)}


def _domains_asked(query: DomainQuery) -> dict[str, Any]:
    asked = msgspec.structs.asdict(query)
    direction = 1 if asked.pop("rising") else -1
    return asked | {"direction": direction, "named": int(query.sort == "domain"), "search": contains(query.search)}


async def _known(tx: Transaction, rows: list[DomainRow]) -> list[DomainRow]:
    """Return domains with the sources they were found on; `is_source` marks domains of our own sources."""
    names = [row.domain for row in rows]
    sources: defaultdict[str, set[str]] = defaultdict(set)
    for row in await tx.batch("referring_sources", [(name,) for name in names]):
        sources[row["domain"]].add(row["source_name"])
    like = await tx.batch("sources_like", [(name, contains(name)) for name in names])
    ours = {row["domain"] for row in like if domain_of(row["base_url"]) == row["domain"]}
    return [
        msgspec.structs.replace(row, sources=tuple(sorted(sources[row.domain])), is_source=row.domain in ours)
        for row in rows
    ]
