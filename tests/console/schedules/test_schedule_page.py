"""Pages of schedules: only legal buttons, the slots of a day, and the rebalancing that was shown."""

import httpx
import pytest

from longline.console.schedules.schedule_list import BUTTONS
from longline.engine.lifecycle.creation import create_schedule
from longline.model.callers.audit import AuditFilter
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleSpec
from longline.model.sources.source import NewSource
from longline.model.states import legal
from tests.console.visiting import csrf, log_in, text_of
from tests.surfaces.intervals.platform import Door

HOSTILE = "<script>alert(1)</script>\"'gnp.exe"
DAY_MS = 86_400_000


async def add(door: Door, name: str, due: int | None = None) -> ScheduleRow:
    platform = door.platform
    terms = ScheduleSpec(
        url=f"https://{name}.example/", source_ref=name, source_name=HOSTILE, every=1, unit="days", enabled=True
    )
    at = due or platform.clock.now() + DAY_MS // 2
    new = NewSchedule(new_id(), terms.url, interval_ms=terms.interval_ms, next_due=at, terms=terms)
    return await create_schedule(platform.records.schedules, new, "person")


async def test_only_legal_moves_have_buttons(door: Door, visitor: httpx.AsyncClient):
    row = await add(door, "a")
    path = f"/console/schedules/{row.uid}"
    for move in ("", "pause", "resume", "cancel"):
        if move:
            token = csrf((await visitor.get("/console/schedules")).text)
            answer = await visitor.post(f"{path}/{move}", data={"csrf": token})
            assert answer.status_code == 303, text_of(answer.text)
        page = (await visitor.get(path)).text
        state = (await door.platform.records.schedules.get_by_uid(row.uid)).state  # type: ignore[union-attr]
        assert f'data-state="{state}"' in page
        shown = {name for name in BUTTONS if f'action="{path}/{name}"' in page}
        assert shown == set(legal("schedule", state, "person")) & set(BUTTONS), state
    actions = [one.action for one in await door.platform.records.audit.find(AuditFilter(noun="schedule"), limit=9)]
    assert actions == ["schedule.cancel", "schedule.resume", "schedule.pause"]


async def test_an_illegal_move_is_refused(door: Door, visitor: httpx.AsyncClient):
    row = await add(door, "a")
    token = csrf((await visitor.get("/console/schedules")).text)
    answer = await visitor.post(f"/console/schedules/{row.uid}/retry", data={"csrf": token})
    assert answer.status_code in (400, 409), answer.status_code


async def test_the_rebalancing_moves_what_it_showed(door: Door, visitor: httpx.AsyncClient):
    due = door.platform.clock.now() + DAY_MS // 2
    rows = [await add(door, f"h{n}", due) for n in range(8)]
    page = (await visitor.get("/console/schedules/rebalance")).text
    assert "Apply 7 moves" in page
    assert "<script>alert" not in page
    answer = await visitor.post("/console/schedules/rebalance", data={"csrf": csrf(page)})
    assert answer.status_code == 303
    found = [await door.platform.records.schedules.get(row.id) for row in rows]
    assert len({row.next_due for row in found if row}) == 8
    assert "No schedule would move" in text_of((await visitor.get("/console/schedules/rebalance")).text)


async def test_a_source_is_scheduled_by_the_form(door: Door, visitor: httpx.AsyncClient):
    source = await door.platform.records.sources.make(NewSource("Tide", "https://tide.example/"))
    page = (await visitor.get(f"/console/schedules/new?source={source.id}")).text
    wrong = await visitor.post("/console/schedules", data={"csrf": csrf(page), "source": source.id, "every": "x"})
    assert wrong.status_code == 400
    answer = await visitor.post(
        "/console/schedules", data={"csrf": csrf(page), "source": source.id, "every": "2", "unit": "hours"}
    )
    assert answer.status_code == 303, text_of(answer.text)
    found = await door.platform.records.schedules.recurring(source.public_id)
    assert [row.interval_ms for row in found.values()] == [7_200_000]


@pytest.mark.parametrize("query", ["", "?state=paused", "?text=zzz", "?start=50", "?state=nonsense"])
async def test_lists_are_shown_for_any_filter(door: Door, visitor: httpx.AsyncClient, query: str):
    await add(door, "a")
    assert (await visitor.get(f"/console/schedules{query}")).status_code == 200


async def test_a_member_may_not_rebalance(door: Door):
    async with log_in(door, "member") as member:
        page = (await member.get("/console/schedules")).text
        assert (await member.post("/console/schedules/rebalance", data={"csrf": csrf(page)})).status_code == 403
