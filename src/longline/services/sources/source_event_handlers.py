"""Handlers that update schedules when another service has created, changed, deleted, enabled or disabled a source."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from longline.engine.sources.crawl_plan import described
from longline.model.errors import BadInput
from longline.model.sources.source import CrawlSource
from longline.model.states import ScheduleState
from longline.model.urls.url import parse
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStores
from longline.ports.records.sources import HandledMessageStore
from longline.ports.sources import SourceLookup
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_events import Reaction, SourceEvent
from longline.services.sources.source_schedules import SourceSchedules

SCHEDULE_FIELDS = frozenset({"rate_limit", "max_depth", "priority", "name", "url"})
"""Fields of a source that its schedule depends on."""


class CreatedSchedule(msgspec.Struct):
    """The validated payload of SOURCE_CREATED; other fields are read without validation."""

    name: str
    url: str
    enabled: bool = True
    rate_limit: float | str | None = None
    max_depth: int | None = None
    priority: str | None = None

    def __post_init__(self) -> None:
        try:
            parse(self.url)
        except BadInput as error:
            raise ValueError(error) from error


class ChangedSchedule(msgspec.Struct):
    """The payload of SOURCE_UPDATED: names of changed fields, or their previous and current values."""

    changed_fields: list[str] | None = None
    previous: dict[str, Any] | None = None
    current: dict[str, Any] | None = None

    @property
    def fields(self) -> set[str]:
        """Return the names of the changed fields."""
        was, now = self.previous or {}, self.current or {}
        return {*(self.changed_fields or ()), *(name for name in was.keys() & now.keys() if was[name] != now[name])}


ServicesOn = Callable[[ScheduleStores], tuple[Schedules, SourceSchedules]]
"""A function that returns the services of schedules on given stores."""


class SourceEventHandlers:
    """Handlers that keep automatic schedules in line with events about their sources; events may be repeated."""

    def __init__(
        self,
        services: ServicesOn,
        stores: ScheduleStores,
        directory: SourceLookup,
        clock: Clock,
        handled: HandledMessageStore,
    ) -> None:
        self._services, self._records = services, stores.schedules
        self._schedules, self._sync = services(stores)
        self._directory, self._clock, self._handled = directory, clock, handled

    def by_type(self) -> Mapping[str, Reaction]:
        """Return the handler of each type of event."""
        return {
            "SOURCE_CREATED": self.created,
            "SOURCE_UPDATED": self.updated,
            "SOURCE_DELETED": self.deleted,
            "SOURCE_ENABLED": self.enabled,
            "SOURCE_DISABLED": self.disabled,
        }

    async def created(self, event: SourceEvent) -> None:
        """Make the schedule of a new source, unless the source is disabled."""
        msgspec.convert(event.payload, CreatedSchedule)
        source = described({**event.payload, "id": event.source_id})
        if source.enabled:
            await self._keep(self._noting(event), source)

    async def updated(self, event: SourceEvent) -> None:
        """Look a changed source up again, and update, resume or pause its schedule."""
        changed = msgspec.convert(event.payload, ChangedSchedule).fields
        source = await self._directory.get(event.source_id)
        if source is None:
            return
        switch = "enabled" in changed
        if changed & SCHEDULE_FIELDS and await self._records.recurring(source.ref):
            # The last change for an event commits together with the note that the event was handled.
            await self._keep(self._sync if switch else self._noting(event), source)
        if switch:
            last = self._noting(event)
            await (last.enabled if source.enabled else last.disabled)(source.ref)

    async def deleted(self, event: SourceEvent) -> None:
        """Delete the schedule of a deleted source; a run under way is cancelled."""
        row = (await self._records.recurring(event.source_id)).get(event.source_id)
        if row is None:
            return
        if row.state == ScheduleState.RUNNING:
            await self._schedules.cancel(row.uid)
        schedules, _ = self._services(self._handled.stores(event.event_id))
        await schedules.remove(row.uid)

    async def enabled(self, event: SourceEvent) -> None:
        """Make or resume the schedule of an enabled source."""
        await self._noting(event).enabled(event.source_id)

    async def disabled(self, event: SourceEvent) -> None:
        """Pause the schedule of a disabled source."""
        await self._noting(event).disabled(event.source_id)

    def _noting(self, event: SourceEvent) -> SourceSchedules:
        """Return the automatic schedules, each change of which records the event as handled."""
        _, sync = self._services(self._handled.stores(event.event_id))
        return sync

    async def _keep(self, sync: SourceSchedules, source: CrawlSource) -> None:
        """Make the schedule of a source, or update it without changing its state and next time."""
        if not await sync.renew(source):
            await sync.create(source)
