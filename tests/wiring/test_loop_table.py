import ast
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from longline.settings import Settings
from longline.wiring.child_worker import child_workers
from longline.wiring.house import House, migrate_tables, open_house
from longline.wiring.loop_table import LOOPS, LoopParts, build_loops
from tests.house.tree import modules


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    async with open_house(settings) as house:
        await migrate_tables(house, may_migrate=True)
        yield house


def names(house: House, *roles: str, **settings: Any) -> set[str]:
    changed = msgspec.structs.replace(house.settings, **settings)
    parts = {f: getattr(house, f) for f in house.__slots__} | {"settings": changed}
    return set(build_loops(LoopParts(House(**parts), frozenset(roles), 1)))


FETCH = {"fetch", "work signals", "work requests", "robots signals", "withdrawn tasks", "worker processes"}

UPKEEP = {
    "recrawls",
    "manifest pruning",
    "alerts",
    "webhooks",
    "old webhooks",
    "host pauses",
    "index",
    "proxy probes",
    "reaper",
    "index upkeep",
    "session upkeep",
    "bot tasks",
    "bot leases",
    "scheduler",
    "due runs",
    "run effects",
    "retention",
    "standing waker",
    "standing counts",
    "run logs",
}


async def test_roles_are_loops(house: House):
    assert names(house, "fetch") == FETCH
    assert names(house, "parse") == {"parse"}
    assert names(house, "upkeep") == UPKEEP
    assert names(house, "upkeep", scheduler=False) == UPKEEP - {"scheduler"}
    assert names(house, "upkeep", frontier=False) == UPKEEP - {"standing waker"}
    assert names(house, "upkeep", sinks=("postgresql://a.example/d/t",)) == UPKEEP | {"sinks"}
    assert names(house, "upkeep", discovery=True) == UPKEEP | {"candidate probes"}
    assert names(house, "fetch", "parse", "upkeep") == FETCH | {"parse"} | UPKEEP


async def test_sources_of_another_service_are_synchronised_and_their_feeds_read(settings: Settings):
    elsewhere = msgspec.structs.replace(settings, sources_url="http://127.0.0.1:1/api/v1/sources")
    async with open_house(elsewhere) as house:
        assert names(house, "upkeep") == UPKEEP | {"remote sources"}
        assert names(house, "upkeep", feeds=True) == UPKEEP | {"feeds", "remote sources"}
        assert names(house, "upkeep", sitemaps=True) == UPKEEP | {"sitemaps", "remote sources"}
        assert names(house, "upkeep", feed_discovery=True) == UPKEEP | {"feed search", "remote sources"}
    async with open_house(settings) as house:
        assert names(house, "upkeep", feeds=True) == UPKEEP | {"feeds"}


async def test_more_workers_are_processes_with_the_roles_of_the_first_but_for_upkeep(house: House):
    for roles in ({"fetch", "parse", "upkeep"}, {"fetch", "parse"}):
        loop: Any = child_workers(msgspec.structs.replace(house.settings, workers=3), frozenset(roles))
        assert set(loop.args[0]) == {"worker 2", "worker 3"}
    assert "worker processes" not in names(house, "parse", workers=3) | names(house, "upkeep", workers=3)


SETTINGS = {field.name: field for field in msgspec.structs.fields(Settings)}


def test_the_table_is_sound():
    assert len({row.name for row in LOOPS}) == len(LOOPS)
    for row in LOOPS:
        assert (row.make is None) != (row.once is None), row.name
        assert row.once is None or row.interval is not None, row.name
        assert set(row.settings) <= SETTINGS.keys(), row.name
        assert not isinstance(row.interval, str) or row.interval in SETTINGS, row.name
        assert set(row.roles) <= {"api", "fetch", "parse", "upkeep"}, row.name


INSIDE = {
    "house.py": {"chore"},  # the heartbeat of a worker
    "parts/feeds.py": {"chore", "run_loops"},  # the two halves of a poll
    "parts/logs.py": {"chore", "run_loops"},  # the writer of run logs
    "parts/manifest_streams.py": {"chore"},  # the mirror of streams in Redis
    "parts/metrics.py": {"chore", "run_loops"},  # the writer of counts
    "parts/schedules.py": {"chore", "run_loops"},  # the parts of the scheduler
    "doors/intervals.py": {"chore", "run_loops"},  # the two halves of the source events
    "child_worker.py": {"run_loops"},  # the worker processes
    "serve.py": {"run_loops"},
    "loop_table.py": {"chore"},
}
"""Modules of wiring that make loops: all but the last two make the inside of one loop, or of one part."""


def test_no_loop_is_made_beside_the_table():
    made = {
        module.path.removeprefix("wiring/"): {
            node.func.id
            for node in module.walk()
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("chore", "run_loops")
        }
        | {
            arg.id
            for node in module.walk()
            if isinstance(node, ast.Call)
            for arg in node.args
            if isinstance(arg, ast.Name) and arg.id == "run_loops"
        }
        for module in modules()
        if module.path.startswith("wiring/")
    }
    assert {path: names for path, names in made.items() if names} == INSIDE
