"""Sources: registered, changed and looked up."""

from collections.abc import Awaitable, Callable, Collection
from functools import partial

import msgspec

from longline.engine.series.request_config import check_requests
from longline.model.callers.audit import mask_text
from longline.model.errors import BadInput, Conflict, NotFound, StaleLease
from longline.model.feeds import feed_poll as poll
from longline.model.proxies.pool_fallbacks import tiers
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.model.sources.source_uses import SourceUse, decode_uses, with_use, without_use
from longline.plugins.registry import Registry
from longline.ports.clock import Clock
from longline.ports.records.feeds import FeedStore
from longline.ports.records.proxies import PoolStore
from longline.ports.records.sources import SourceStore as SourceRecords
from longline.services.schedules.schedules import MAX_TRIES
from longline.services.sinks.sink_progress import check_sink_names

Announce = Callable[[int], Awaitable[None]]
"""An announcement that settings of a source have changed, by the id of the source."""


class RefusedConfig(BadInput):
    """A config that the extension of a source cannot work with."""


class Sources:
    """All operations on sources; `ours` refuses remote sources, which only their source manager changes.

    Every change is told to `announce`, so that cached plans follow it.
    """

    def __init__(
        self,
        records: SourceRecords,
        feeds: FeedStore,
        clock: Clock,
        parsers: Registry,
        *,
        sinks: Collection[str] = (),
        remote: bool = False,
        pools: PoolStore | None = None,
    ) -> None:
        self._records, self._feeds, self._clock, self._pools = records, feeds, clock, pools
        self._parsers, self._sinks, self._remote = parsers, sinks, remote
        self.announce: Announce | None = None

    async def make(self, source: NewSource) -> SourceRow:
        """Register a source; raises `Conflict` for a taken name, `BadInput` for parser, config, sink or pool."""
        self._check_parser(source)
        self._check_extension(source)
        self._check_sinks(source)
        await self._check_pools(source)
        return await self._records.make(source)

    def _check_parser(self, source: NewSource | SourceRow) -> None:
        self._parsers.check(source.parser or "", msgspec.json.decode(source.config))

    def _check_extension(self, source: NewSource | SourceRow) -> None:
        """Let the extension check the config of a source; a source may name an extension that is not loaded yet."""
        self._parsers.refresh()
        extension = self._parsers.extensions.get(source.extension or "")
        if extension is None:
            return
        config = msgspec.json.decode(source.extension_config)
        try:
            extension.check(config)
            check_requests(config)
        except BadInput as error:
            raise RefusedConfig(str(error)) from None

    def _check_sinks(self, source: NewSource | SourceRow) -> None:
        check_sink_names(msgspec.json.decode(source.sinks, type=list[str]), self._sinks)

    async def _check_pools(self, source: NewSource | SourceRow) -> None:
        names = msgspec.json.decode(source.proxy_pools, type=list[str])
        if names and self._pools is not None:
            pools = await self._pools.find()
            for name in names:
                tiers(name, pools)

    async def get(self, source_id: int) -> SourceRow:
        """Return a source; raise `NotFound` for an unknown id."""
        row = await self._records.get(source_id)
        if row is None:
            raise NotFound("source", source_id)
        return row

    async def get_by_ref(self, ref: str) -> SourceRow:
        """Return the source with this public reference; raise `NotFound` if there is none."""
        row = await self._records.get_by_ref(ref)
        if row is None:
            raise NotFound("source", ref)
        return row

    async def ours(self, ref: str | int) -> int:
        """Return the id of a source that may be changed here; raise `NotFound`, or `Conflict` for a remote source.

        A number is the id itself, a text the public reference.
        """
        row = await (self.get(ref) if isinstance(ref, int) else self.get_by_ref(ref))
        if self._remote and row.ref is not None:
            raise Conflict(f"source {row.ref} is kept by another service: change it there")
        return row.id

    async def get_by_identity(self, identity_key: str) -> SourceRow:
        """Return the source with this identity; raise `NotFound` if there is none."""
        row = await self._records.get_by_identity(identity_key)
        if row is None:
            raise NotFound("source", identity_key)
        return row

    async def find(self, query: SourceQuery, limit: int, offset: int) -> tuple[list[SourceRow], int]:
        """Return matching sources, and their total number."""
        return await self._records.find(query, limit=limit, offset=offset), await self._records.count(query)

    async def change(self, source_id: int, amend: Callable[[SourceRow], SourceRow]) -> SourceRow:
        """Change a source; raises `NotFound`, `Conflict` for a taken name, `BadInput` for parser, config, sink, pool.

        A parser, a sink or a pool that was removed meanwhile does not prevent other changes.
        """
        for _ in range(MAX_TRIES):
            was = await self.get(source_id)
            wanted = amend(was)
            if (wanted.parser, wanted.config) != (was.parser, was.config):
                self._check_parser(wanted)
            if (wanted.extension, wanted.extension_config) != (was.extension, was.extension_config):
                self._check_extension(wanted)
            if wanted.sinks != was.sinks:
                self._check_sinks(wanted)
            if wanted.proxy_pools != was.proxy_pools:
                await self._check_pools(wanted)
            row = await self._records.change(wanted, was)
            if row is not None:
                if self.announce is not None:
                    await self.announce(source_id)
                return row
        raise StaleLease(f"source {source_id} kept changing")

    async def switch(self, source_id: int, on: bool, reason: str | None = None) -> SourceRow:
        """Enable a source, or disable it with a reason; passwords in URLs of the reason are masked."""
        at, why = (None, None) if on else (self._clock.now(), reason and mask_text(reason))
        return await self.change(
            source_id, lambda row: msgspec.structs.replace(row, enabled=on, disabled_at=at, disable_reason=why)
        )

    async def switch_feed(self, source_id: int, on: bool, reason: str | None = None) -> SourceRow:
        """Reset a feed's failures and poll it at once; or disable the feed, for a time that depends on the reason."""
        why = reason and mask_text(reason)
        await self._feeds.change(source_id, poll.enabled if on else partial(poll.disabled, reason=why))
        return await self.get(source_id)

    async def limit(self, source_id: int, budget: int | None) -> SourceRow:
        """Limit the URLs that all runs of a source together may admit, or lift the limit; raises `NotFound`."""
        if budget is not None and budget < 1:
            raise BadInput("budget must be at least 1")
        row = await self._records.limit(source_id, budget)
        if row is None:
            raise NotFound("source", source_id)
        return row

    async def remove(self, source_id: int, use: SourceUse = SourceUse.INTERVAL) -> None:
        """Delete a source for the API that has this use; raise `NotFound`, or `Conflict` if another API uses it."""
        for _ in range(MAX_TRIES):
            row = await self.get(source_id)
            others = decode_uses(row.uses) - {use}
            if others:
                raise Conflict(
                    f"source {row.name} is also used by {', '.join(sorted(others))}: take off its use by {use} instead,"
                    f" with longline sources use --id {row.id} --remove {use}"
                )
            if await self._records.remove(source_id, row.uses):
                return
        raise StaleLease(f"source {source_id} kept changing")

    async def set_use(self, source_id: int, use: SourceUse, *, on: bool) -> SourceRow:
        """Let an API crawl a source, or leave it alone; the source stays, even without any use."""
        changed = with_use if on else without_use
        return await self.change(source_id, lambda row: msgspec.structs.replace(row, uses=changed(row.uses, use)))
