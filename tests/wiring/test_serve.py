from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from longline.settings import Settings
from longline.wiring.house import House, open_house, ready_tables
from longline.wiring.serve import _child_environment, _loops


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as house:
        await ready_tables(house, may_migrate=True)
        yield house


def names(house: House, *roles: str, **settings: Any) -> set[str]:
    changed = msgspec.structs.replace(house.settings, **settings)
    parts = {f: getattr(house, f) for f in house.__slots__} | {"settings": changed}
    return set(_loops(House(**parts), frozenset(roles), 1))


UPKEEP = {
    "pauses",
    "index",
    "prober",
    "reaper",
    "tidy",
    "tasks for bots",
    "leases of bots",
    "planner",
    "pruner",
    "waker",
    "census",
}


async def test_roles_are_loops(house: House):
    assert names(house, "fetch") == {"fetch", "signals", "sharing", "recall"}
    assert names(house, "parse") == {"parse"}
    assert names(house, "upkeep") == UPKEEP
    assert names(house, "upkeep", scheduler=False) == UPKEEP - {"planner", "pruner"}
    assert names(house, "upkeep", frontier=False) == UPKEEP - {"waker"}
    assert names(house, "upkeep", discovery=True) == UPKEEP | {"scout"}
    assert names(house, "fetch", "parse", "upkeep") == {"fetch", "signals", "sharing", "recall", "parse"} | UPKEEP


async def test_a_courier_goes_where_another_service_keeps_sources_and_they_are_looked_after(settings: Settings):
    elsewhere = msgspec.structs.replace(settings, sources_url="http://127.0.0.1:1/api/v1/sources")
    async with open_house(elsewhere) as house:
        assert names(house, "upkeep") == UPKEEP | {"courier"}
        assert names(house, "upkeep", feeds=True) == UPKEEP | {"feeder", "courier"}
        assert names(house, "upkeep", sitemaps=True) == UPKEEP | {"mapper", "courier"}
        assert names(house, "upkeep", feed_discovery=True) == UPKEEP | {"finder", "courier"}
    async with open_house(settings) as house:
        assert names(house, "upkeep", feeds=True) == UPKEEP | {"feeder"}


async def test_more_workers_are_processes_of_the_all_in_one_command_only(house: House):
    assert names(house, "fetch", "parse", "upkeep", workers=3) >= {"worker 2", "worker 3"}
    assert names(house, "fetch", "parse", workers=3) == {"fetch", "signals", "sharing", "recall", "parse"}


def test_a_child_reads_the_same_settings_and_no_others(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGLINE_DATA", "/elsewhere")
    monkeypatch.setenv("LONGLINE_CONFIG", "/some/file")
    monkeypatch.setenv("PATH_OF_MINE", "kept")
    given = _child_environment(msgspec.structs.replace(settings, concurrency=7))
    assert (given["LONGLINE_DATA"], given["LONGLINE_CONCURRENCY"]) == (str(settings.data), "7")
    assert ("LONGLINE_CONFIG" in given, given["PATH_OF_MINE"]) == (False, "kept")
