"""Pages of schedules: only legal buttons, the slots of a day, and the rebalancing of the preview."""

import json
import re

import httpx
import pytest

from longline.console.schedules.schedule_list import BUTTONS
from longline.engine.lifecycle.creation import create_schedule
from longline.model.callers.audit import AuditFilter
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleSpec
from longline.model.sources.source import NewSource
from longline.model.states import legal
from longline.wiring.subjects.schedules import scheduler
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


async def test_the_rebalancing_makes_the_moves_of_its_preview(door: Door, visitor: httpx.AsyncClient):
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


async def test_chosen_moves_of_the_preview_are_applied(door: Door, visitor: httpx.AsyncClient):
    due = door.platform.clock.now() + DAY_MS // 2
    rows = [await add(door, f"h{n}", due) for n in range(5)]
    page = (await visitor.get("/console/schedules/rebalance")).text
    offered = re.findall(r'name="chosen" value="([0-9:]+)"', page)
    assert len(offered) == 4
    chosen = [offered[0], offered[2]]
    path = "/console/schedules/rebalance/moves"
    answer = await visitor.post(path, data={"csrf": csrf(page), "chosen": chosen, "reason": "too full"})
    assert answer.status_code == 303
    assert "2 schedules moved." in text_of((await visitor.get(answer.headers["location"])).text)
    found = [await door.platform.records.schedules.get(row.id) for row in rows]
    moved = {f"{row.id}:{due}:{row.next_due}" for row in found if row and row.next_due != due}
    assert moved == set(chosen)
    [audit] = await door.platform.records.audit.find(AuditFilter(action="schedule.rebalance"), limit=9)
    assert audit.reason == "too full"
    assert json.loads(audit.after or "") == {"moved": [row.uid for row in found if row and row.next_due != due]}
    await visitor.post(path, data={"csrf": csrf(page), "chosen": chosen[0]})
    told = text_of((await visitor.get("/console/schedules/rebalance")).text)
    assert "0 schedules moved. 1 schedule changed meanwhile and stayed." in told


@pytest.mark.parametrize(
    "moves",
    ["", "1", "1:2", "a:b:c", "{0}:{1}:-3", "{0}:{1}:{2} x", "{0}:{1}:" + "9" * 30, "{0}:{1}:{2} " * 101],
    ids=["none", "one number", "two", "letters", "negative", "another word", "30 digits", "too many"],
)
async def test_a_choice_of_moves_that_is_none_is_refused(door: Door, visitor: httpx.AsyncClient, moves: str):
    row = await add(door, "a")
    assert row.next_due is not None
    page = (await visitor.get("/console/schedules/rebalance")).text
    chosen = moves.format(row.id, row.next_due, row.next_due + 60_000)
    answer = await visitor.post("/console/schedules/rebalance/moves", data={"csrf": csrf(page), "chosen": chosen})
    assert answer.status_code == 400
    found = await door.platform.records.schedules.get(row.id)
    assert found is not None
    assert found.next_due == row.next_due
    assert await door.platform.records.audit.find(AuditFilter(action="schedule.rebalance"), limit=9) == []


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


@pytest.mark.parametrize(
    ("typed", "blamed"),
    [
        ({"every": "3", "url": "https://tide.example/" + "x" * 4_004}, {"url": "The start URL is too long."}),
        ({"every": "3", "url": "ftp://tide.example/"}, {"url": "This is no URL"}),
        ({"every": "", "url": "nonsense"}, {"url": "This is no URL"}),
        ({"every": "x"}, {"every": "a whole number"}),
        ({"every": "9" * 5_000}, {"every": "a whole number"}),
        ({"every": "0"}, {"every": "greater than 0"}),
        ({"every": "9999999999", "unit": "days"}, {"every": "ten years"}),
        ({"every": "x", "url": "nonsense"}, {"url": "This is no URL", "every": "a whole number"}),
    ],
)
async def test_a_refused_field_of_the_form_is_the_one_that_is_blamed(
    door: Door, visitor: httpx.AsyncClient, typed: dict[str, str], blamed: dict[str, str]
):
    source = await door.platform.records.sources.make(NewSource("Tide", "https://tide.example/"))
    page = (await visitor.get(f"/console/schedules/new?source={source.id}")).text
    answer = await visitor.post("/console/schedules", data={"csrf": csrf(page), "source": source.id} | typed)
    assert answer.status_code == 400
    told = dict(re.findall(r'<a href="#f-(\w+)">(.*?)</a>', answer.text))
    assert set(told) == set(blamed)
    assert all(text in told[name] for name, text in blamed.items()), told
    assert await door.platform.records.schedules.recurring(source.public_id) == {}


@pytest.mark.parametrize("query", ["", "?state=paused", "?text=zzz", "?start=50", "?state=nonsense"])
async def test_lists_are_shown_for_any_filter(door: Door, visitor: httpx.AsyncClient, query: str):
    await add(door, "a")
    assert (await visitor.get(f"/console/schedules{query}")).status_code == 200


async def test_a_member_may_not_rebalance(door: Door):
    async with log_in(door, "member") as member:
        page = (await member.get("/console/schedules")).text
        for path in ("/console/schedules/rebalance", "/console/schedules/rebalance/moves"):
            assert (await member.post(path, data={"csrf": csrf(page), "chosen": "1:2:3"})).status_code == 403


@pytest.mark.parametrize(("every", "became"), [(None, "cancelled"), (1, "scheduled")])
async def test_a_run_that_is_cancelled_does_not_start_again(
    door: Door, visitor: httpx.AsyncClient, every: int | None, became: str
):
    records, platform = door.platform.records, door.platform
    source = await records.sources.add(NewSource("Tidewater books", "https://a.example/"))
    terms = ScheduleSpec(url=source.base_url, source_ref=source.public_id, every=every, unit="days", enabled=True)
    new = NewSchedule(new_id(), terms.url, source.id, terms.interval_ms, platform.clock.now(), terms)
    row = await create_schedule(records.schedules, new, "person")
    runs = scheduler(platform, 1)
    await runs.poll()
    started = await records.schedules.get_by_uid(row.uid)
    assert started is not None
    path = f"/console/runs/{started.run_id}"
    token = csrf((await visitor.get(path)).text)
    assert (await visitor.post(f"{path}/cancel", data={"csrf": token})).status_code == 303
    await runs.follow()
    assert await runs.poll() == 0
    assert f'data-state="{became}"' in (await visitor.get(f"/console/schedules/{row.uid}")).text
    assert "number 1 of its schedule" in text_of((await visitor.get(path)).text)


async def test_a_schedule_without_a_name_has_that_of_its_source(door: Door, visitor: httpx.AsyncClient):
    platform = door.platform
    source = await platform.records.sources.make(NewSource("Tide tables", "https://tide.example/"))
    named = ScheduleSpec(url="https://tide.example/all", source_ref=source.public_id)
    lost = ScheduleSpec(url="https://lost.example/", source_ref="nowhere")
    rows = [
        await create_schedule(platform.records.schedules, NewSchedule(new_id(), terms.url, terms=terms), "person")
        for terms in (named, lost)
    ]
    listed = text_of((await visitor.get("/console/schedules")).text)
    assert "Tide tables https://tide.example/all" in listed
    assert (listed.count("https://lost.example/"), "its source is not registered" in listed) == (1, True)
    first, second = [text_of((await visitor.get(f"/console/schedules/{row.uid}")).text) for row in rows]
    assert first.count("Tide tables") >= 2
    assert second.count("https://lost.example/") == 3, "in the title, the way to it, and the heading"
