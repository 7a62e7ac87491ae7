"""What is done about schedules when another service says that a source was made, changed, removed or switched."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import msgspec

from longline.engine.sources.crawl_plan import described
from longline.model.errors import BadInput
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule
from longline.model.sources.source import CrawlSource
from longline.model.states import ScheduleState
from longline.model.url import parse
from longline.ports.clock import Clock
from longline.ports.records.schedules import ScheduleStore as ScheduleRecords
from longline.ports.records.sources import HandledMessageStore
from longline.ports.sources import SourceLookup
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_events import Reaction, SourceEvent
from longline.services.sources.source_schedules import SourceSchedules, computed

FIRST_AFTER_MS = {"critical": 0, "high": 60_000, "normal": 300_000, "low": 600_000}
"""How long a new source waits for its first run."""

HEEDED = frozenset({"rate_limit", "max_depth", "priority", "name", "url"})
"""Fields that a schedule is made of."""


class CreatedSchedule(msgspec.Struct):
    """What must be told of a source that was made; the rest is read as it comes."""

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
    """What is told of a source that was changed: the names of its fields, or what they were and are."""

    changed_fields: list[str] | None = None
    previous: dict[str, Any] | None = None
    current: dict[str, Any] | None = None

    @property
    def fields(self) -> set[str]:
        """The names of what is another now."""
        was, now = self.previous or {}, self.current or {}
        return {*(self.changed_fields or ()), *(name for name in was.keys() & now.keys() if was[name] != now[name])}


class SourceEventHandlers:
    """Keeps automatic schedules in line with what is said of their sources; each may be said again."""

    def __init__(
        self,
        sync: SourceSchedules,
        schedules: Schedules,
        records: ScheduleRecords,
        directory: SourceLookup,
        clock: Clock,
        heard: HandledMessageStore,
    ) -> None:
        self._sync, self._schedules, self._records = sync, schedules, records
        self._directory, self._clock, self._heard = directory, clock, heard

    def by_type(self) -> Mapping[str, Reaction]:
        """The reaction to each type of event."""
        return {
            "SOURCE_CREATED": self.created,
            "SOURCE_UPDATED": self.updated,
            "SOURCE_DELETED": self.deleted,
            "SOURCE_ENABLED": self.enabled,
            "SOURCE_DISABLED": self.disabled,
        }

    async def created(self, event: SourceEvent) -> None:
        """A new source gets its schedule, unless it is switched off."""
        msgspec.convert(event.payload, CreatedSchedule)
        source = described({**event.payload, "id": event.source_id})
        if source.enabled:
            with self._heard.along(event.event_id):
                await self._keep(source)

    async def updated(self, event: SourceEvent) -> None:
        """What a schedule is made of changed; the source is asked for anew."""
        changed = msgspec.convert(event.payload, ChangedSchedule).fields
        source = await self._directory.get(event.source_id)
        if source is None:
            return
        switch = "enabled" in changed
        if changed & HEEDED and await self._records.recurring(source.ref) is not None:
            # What is said last of an event is said along with its note.
            with nullcontext() if switch else self._heard.along(event.event_id):
                await self._keep(source)
        if switch:
            with self._heard.along(event.event_id):
                await (self._sync.enabled if source.enabled else self._sync.disabled)(source.ref)

    async def deleted(self, event: SourceEvent) -> None:
        """A source that is gone leaves no schedule; a run under way is cancelled."""
        row = await self._records.recurring(event.source_id)
        if row is None:
            return
        if row.state == ScheduleState.RUNNING:
            await self._schedules.cancel(row.uid)
        with self._heard.along(event.event_id):
            await self._schedules.remove(row.uid)

    async def enabled(self, event: SourceEvent) -> None:
        """A source may be crawled again."""
        with self._heard.along(event.event_id):
            await self._sync.enabled(event.source_id)

    async def disabled(self, event: SourceEvent) -> None:
        """A source may not be crawled."""
        with self._heard.along(event.event_id):
            await self._sync.disabled(event.source_id)

    async def _keep(self, source: CrawlSource) -> None:
        """Make the schedule of a source, or bring it up to date; its state and its next time stay."""
        if await self._sync.renew(source):
            return
        terms = computed(source)
        due = self._clock.now() + FIRST_AFTER_MS.get(source.priority, FIRST_AFTER_MS["normal"])
        await self._records.add(NewSchedule(new_id(), terms.url, None, terms.interval_ms, due, terms, unplaced=True))
