"""Handlers of source events, each delivered twice."""

from typing import Any

import msgspec
import pytest

from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.sources.source_lookup import LocalSources
from longline.model.schedules.schedule import ScheduleRow
from longline.model.sources.source import NewSource, SourceRow
from longline.ports.records import Records
from longline.ports.records.schedules import ScheduleStores
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_event_handlers import SourceEventHandlers
from longline.services.sources.source_events import SourceEvent
from longline.services.sources.source_schedules import SourceSchedules
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


@pytest.fixture
async def source(records: Records) -> SourceRow:
    return await records.sources.add(NewSource("news", "https://news.example/", crawl='{"rate_limit": 10}'))


@pytest.fixture
def reactions(records: Records, clock: FakeClock) -> SourceEventHandlers:
    directory = LocalSources(records.sources)

    def services(stores: ScheduleStores) -> tuple[Schedules, SourceSchedules]:
        schedule_lifecycle = ScheduleLifecycle(stores)
        schedules = Schedules(schedule_lifecycle, stores.schedules, records.runs, records.page_changes, clock)
        return schedules, SourceSchedules(directory, stores.schedules, records.runs, schedule_lifecycle, clock)

    return SourceEventHandlers(services, records, directory, clock, records.handled_messages)


async def say(reactions: SourceEventHandlers, kind: str, ref: str, **payload: Any) -> None:
    """Deliver an event twice: the second delivery must change nothing."""
    for number in range(2):
        await reactions.by_type()[kind](SourceEvent(f"e{number}", kind, ref, payload))


async def only(records: Records) -> ScheduleRow:
    [row] = await records.schedules.find()
    return row


async def test_a_new_source_gets_one_schedule(reactions: SourceEventHandlers, records: Records, clock: FakeClock):
    said = {"name": "n", "url": "https://n.example/", "rate_limit": 10, "max_depth": 1, "priority": "high"}
    await say(reactions, "SOURCE_CREATED", "abc", enabled=True, **said)
    row = await only(records)
    assert (row.source_ref, row.every, row.priority, row.automatic) == ("abc", 30, 75, True)
    assert (row.state, row.next_due) == ("pending", clock.now() + 60_000)
    await say(reactions, "SOURCE_CREATED", "off", enabled=False, **said)
    await only(records)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("SOURCE_CREATED", {}),
        ("SOURCE_CREATED", {"name": "n"}),
        ("SOURCE_CREATED", {"name": 5, "url": "https://n.example/"}),
        ("SOURCE_CREATED", {"name": "n", "url": "nonsense"}),
        ("SOURCE_CREATED", {"name": "n", "url": "ftp://n.example/"}),
        ("SOURCE_CREATED", {"name": "n", "url": "https://n.example/", "enabled": "yes"}),
        ("SOURCE_CREATED", {"name": "n", "url": "https://n.example/", "rate_limit": [1]}),
        ("SOURCE_CREATED", {"name": "n", "url": "https://n.example/", "max_depth": "deep"}),
        ("SOURCE_CREATED", {"name": "n", "url": "https://n.example/", "priority": 3}),
        ("SOURCE_UPDATED", {"changed_fields": 5}),
        ("SOURCE_UPDATED", {"changed_fields": [1]}),
        ("SOURCE_UPDATED", {"previous": [], "current": {}}),
    ],
)
async def test_an_invalid_payload_changes_nothing(
    reactions: SourceEventHandlers, records: Records, source: SourceRow, kind: str, payload: Any
):
    with pytest.raises(msgspec.ValidationError):
        await reactions.by_type()[kind](SourceEvent("e", kind, source.public_id, payload))
    assert await records.schedules.find() == []


async def test_an_automatic_schedule_changes_with_its_source(
    reactions: SourceEventHandlers, records: Records, source: SourceRow
):
    ref = source.public_id
    await say(reactions, "SOURCE_ENABLED", ref)
    before = await only(records)
    await records.sources.change(
        msgspec.structs.replace(source, crawl='{"rate_limit": 5}', base_url="https://new.example/")
    )
    await say(reactions, "SOURCE_UPDATED", ref, changed_fields=["selectors"])
    assert (await only(records)).every == 60, "a change of the selectors changes no schedule"
    await say(reactions, "SOURCE_UPDATED", ref, changed_fields=["rate_limit"])
    after = await only(records)
    assert (after.every, after.url, after.next_due, after.state) == (
        90,
        "https://new.example/",
        before.next_due,
        "scheduled",
    )
    await say(reactions, "SOURCE_UPDATED", "gone", changed_fields=["rate_limit"])


async def test_a_change_is_also_seen_by_comparing_previous_and_current(
    reactions: SourceEventHandlers, records: Records, source: SourceRow
):
    """An event that names no changed field, but has both states of the source, is handled alike."""
    ref = source.public_id
    await say(reactions, "SOURCE_ENABLED", ref)
    await records.sources.change(msgspec.structs.replace(source, crawl='{"rate_limit": 5}'))
    was = {"rate_limit": 10, "selectors": {}, "gone": 1}
    await say(reactions, "SOURCE_UPDATED", ref, changed_fields=[], previous=was, current=was | {"selectors": {"a": 1}})
    assert (await only(records)).every == 60
    await say(reactions, "SOURCE_UPDATED", ref, changed_fields=None, previous=was, current={"rate_limit": 5})
    assert (await only(records)).every == 90


async def test_a_source_is_disabled_and_enabled_again(
    reactions: SourceEventHandlers, records: Records, source: SourceRow, clock: FakeClock
):
    ref = source.public_id
    await say(reactions, "SOURCE_ENABLED", ref)
    await say(reactions, "SOURCE_DISABLED", ref)
    row = await only(records)
    assert (row.state, row.paused_by, row.paused_at, row.next_due) == ("paused", "source", clock.now(), None)
    await say(reactions, "SOURCE_ENABLED", ref)
    assert ((await only(records)).state, (await only(records)).next_due) == ("scheduled", clock.now())
    await say(reactions, "SOURCE_ENABLED", "gone")


async def test_a_deleted_source_leaves_no_schedule_and_no_run(
    reactions: SourceEventHandlers, records: Records, source: SourceRow
):
    ref = source.public_id
    await say(reactions, "SOURCE_ENABLED", ref)
    [tick] = await ScheduleLifecycle(records).start(1, 10, 60_000)
    await say(reactions, "SOURCE_DELETED", ref)
    assert await records.schedules.find() == []
    run = await records.runs.get(tick.run.id)
    assert run is not None
    assert run.state == "cancelled"
    await say(reactions, "SOURCE_DISABLED", ref)


async def test_an_effect_and_its_record_are_one_transaction(
    reactions: SourceEventHandlers, records: Records, source: SourceRow, clock: FakeClock
):
    """Acceptance 25: a process that crashes after an effect has recorded the event."""
    ref, started = source.public_id, 0

    async def step(kind: str, **payload: Any) -> None:
        nonlocal started
        if kind == "SOURCE_DISABLED" or kind == "SOURCE_DELETED":
            clock.advance(7200)
            started += len(await ScheduleLifecycle(records).start(1, 10, 60_000))
        event = SourceEvent(f"{kind} {payload}", kind, ref, payload)
        await reactions.by_type()[kind](event)
        assert await records.handled_messages.has(event.event_id), event

    said = {"name": "news", "url": "https://news.example/", "rate_limit": 10, "enabled": True}
    await step("SOURCE_CREATED", **said)
    await step("SOURCE_UPDATED", changed_fields=["rate_limit"])
    await step("SOURCE_DISABLED")
    assert (await only(records)).state == "paused"
    await step("SOURCE_ENABLED")
    await records.sources.change(msgspec.structs.replace(source, enabled=False))
    await step("SOURCE_UPDATED", changed_fields=["enabled", "name"])
    assert (await only(records)).state == "paused"
    await step("SOURCE_ENABLED", again=True)
    await step("SOURCE_DELETED")
    assert await records.schedules.find() == []
    assert started == 2, "two of these events met a run under way"


async def test_an_event_without_an_effect_is_recorded_by_its_listener(reactions: SourceEventHandlers, records: Records):
    await reactions.disabled(SourceEvent("e", "SOURCE_DISABLED", "nobody"))
    assert not await records.handled_messages.has("e")
