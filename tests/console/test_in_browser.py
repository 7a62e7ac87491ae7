"""Pages of the subjects in a real browser: hostile texts, a phone in the dark, and the main actions by hand."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.model.callers.audit import AuditFilter
from longline.settings import Settings
from tests.console.browsing import browse
from tests.console.hostile import make_things, paths
from tests.console.showcase import make_showcase
from tests.surfaces.intervals.platform import Door, open_door

pytestmark = pytest.mark.slow  # a browser takes seconds of a processor


@pytest.fixture
async def door(migrated_file: str, tmp_path: Path) -> AsyncIterator[Door]:
    """A platform on SQLite: pages are the same on both engines."""
    async with open_door(Settings(data=tmp_path / "data", database=migrated_file, port=0)) as opened:
        yield opened


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
async def test_every_page_bears_hostile_texts(door: Door, chromium: Path, width: int, scheme: str):
    things = await make_things(door.platform)
    async with browse(door, chromium, width=width, scheme=scheme) as visit:
        for path in paths(things):
            await visit.show(path)
    assert visit.problems == []


async def test_the_main_actions_are_done_by_hand(door: Door, chromium: Path):
    pages = await make_showcase(door.platform)
    async with browse(door, chromium) as visit:
        page = visit.page
        await visit.show("/console/sources/new")
        await page.fill("[name=name]", "Stormglass")
        await page.fill("[name=base_url]", "https://stormglass.example/")
        await page.get_by_role("button", name="Register").click()
        await page.get_by_role("link", name="Schedule it").click()
        await page.fill("[name=every]", "6")
        await page.get_by_role("button", name="Make it").click()
        assert "scheduled" in await page.inner_text("h1 + .badge")
        await page.get_by_role("button", name="Pause").click()
        assert "paused" in await page.inner_text("h1 + .badge")
        await visit.show(pages["proxy"])
        await page.get_by_role("button", name="Disable…").click()
        assert await page.evaluate("document.activeElement.innerText") == "Keep it"
        await page.fill("dialog[open] [name=reason]", "fails at two sources")
        await page.get_by_role("button", name="Disable it").click()
        assert "disabled" in await page.inner_text("h1 + .badge")
        await visit.show(pages["tasks"] + "&state=failed")
        for box in await page.locator("[name=tasks]").all():
            await box.check()
        await page.get_by_role("button", name="Restart 3", exact=True).click()
        assert "3 of 3 tasks moved" in await page.inner_text("h1")
        await visit.show("/console/schedules/rebalance")
        await page.get_by_role("button", name="moves…").click()
        await page.get_by_role("button", name="Move them").click()
        assert await page.get_by_text("No schedule would move").is_visible()
        await visit.show("/console/audit")
        told = await page.locator("td.lead").all_inner_texts()
    assert visit.problems == []
    assert told == [
        *("schedule.rebalance", "task.restart", "proxy.disable", "schedule.pause"),
        *("schedule.create", "source.create", "session.open"),
    ]
    assert len(await door.platform.records.audit.find(AuditFilter(), limit=50)) >= len(told)


async def test_members_are_offered_nothing_that_they_may_not_do(door: Door, chromium: Path):
    pages = await make_showcase(door.platform)
    async with browse(door, chromium, role="member") as visit:
        for name in ("source", "task", "schedule", "proxy", "sources", "schedules", "tasks"):
            await visit.show(pages[name])
            buttons = visit.page.locator("main form[method=post] button, main [data-open]")
            assert await buttons.count() == 0, name
    assert visit.problems == []
