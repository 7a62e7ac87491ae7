import ast
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from longline.settings import Settings
from longline.settings.tables import Tables
from longline.wiring.child_worker import child_workers
from longline.wiring.loops.loop_row import LoopParts
from longline.wiring.loops.loop_table import LOOPS, build_loops
from longline.wiring.platform import Platform, migrate_tables, open_platform
from tests.house.tree import modules


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        yield platform


def names(platform: Platform, *roles: str, **settings: Any) -> set[str]:
    changed = msgspec.structs.replace(platform.settings, **settings)
    parts = {f: getattr(platform, f) for f in platform.__slots__} | {"settings": changed}
    return set(build_loops(LoopParts(Platform(**parts), frozenset(roles), 1)))


EVERYWHERE = {"settings signals"}

FETCH = EVERYWHERE | {
    "fetch",
    "work signals",
    "work requests",
    "robots signals",
    "proxy signals",
    "withdrawn tasks",
    "worker processes",
}

UPKEEP = EVERYWHERE | {
    "recrawls",
    "manifest pruning",
    "alerts",
    "throughput",
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
    "found URLs",
    "daily robots",
    "pages of recrawls",
    "run effects",
    "retention",
    "standing waker",
    "standing counts",
    "run logs",
    "log months",
    "maintenance",
    "automatic series runs",
}


async def test_roles_are_loops(platform: Platform):
    assert names(platform, "fetch") == FETCH
    assert names(platform, "parse") == EVERYWHERE | {"parse"}
    assert names(platform, "upkeep") == UPKEEP
    assert names(platform, "upkeep", scheduler=False) == UPKEEP - {"scheduler", "automatic series runs"}
    assert names(platform, "upkeep", frontier=False) == UPKEEP - {"standing waker"}
    assert names(platform, "upkeep", sinks=("postgresql://a.example/d/t",)) == UPKEEP | {"sinks"}
    assert names(platform, "upkeep", discovery=True) == UPKEEP | {"candidate probes"}
    assert names(platform, "fetch", "parse", "upkeep") == FETCH | {"parse"} | UPKEEP


async def test_sources_of_another_service_are_synchronised_and_their_feeds_read(settings: Settings):
    elsewhere = msgspec.structs.replace(settings, sources_url="http://127.0.0.1:1/api/v1/sources")
    async with open_platform(elsewhere) as platform:
        assert names(platform, "upkeep") == UPKEEP | {"remote sources"}
        assert names(platform, "upkeep", feeds=True) == UPKEEP | {"feeds", "remote sources"}
        assert names(platform, "upkeep", sitemaps=True) == UPKEEP | {"sitemaps", "remote sources"}
        assert names(platform, "upkeep", feed_discovery=True) == UPKEEP | {"feed search", "remote sources"}
    async with open_platform(settings) as platform:
        assert names(platform, "upkeep", feeds=True) == UPKEEP | {"feeds"}


async def test_more_workers_are_processes_with_the_roles_of_the_first_but_for_upkeep(platform: Platform):
    for roles in ({"fetch", "parse", "upkeep"}, {"fetch", "parse"}):
        loop: Any = child_workers(msgspec.structs.replace(platform.settings, workers=3), frozenset(roles))
        assert set(loop.args[0]) == {"worker 2", "worker 3"}
    assert "worker processes" not in names(platform, "parse", workers=3) | names(platform, "upkeep", workers=3)


SETTINGS = {field.name: field for field in msgspec.structs.fields(Settings)}


def is_setting(name: str) -> bool:
    """Return whether a setting of this name exists, in the table that is named before the dot."""
    table, _, field = name.rpartition(".")
    return hasattr(getattr(Tables(), table), field) if table else name in SETTINGS


def test_a_setting_of_a_table_switches_its_loop(settings: Settings):
    [row] = [row for row in LOOPS if row.name == "metrics export"]
    telemetry = msgspec.structs.replace(settings.tables.telemetry, otlp_endpoint="http://127.0.0.1:1")
    tables = msgspec.structs.replace(settings.tables, telemetry=telemetry)
    assert not row.is_enabled(settings)
    assert row.is_enabled(msgspec.structs.replace(settings, tables=tables))


def test_the_table_is_sound():
    assert len({row.name for row in LOOPS}) == len(LOOPS)
    for row in LOOPS:
        assert (row.make is None) != (row.once is None), row.name
        assert row.once is None or row.interval is not None, row.name
        assert all(is_setting(name) for name in row.settings), row.name
        assert not isinstance(row.interval, str) or row.interval in SETTINGS, row.name
        assert set(row.roles) <= {"api", "fetch", "parse", "upkeep"}, row.name


INSIDE = {
    "platform.py": {"chore"},  # the heartbeat of a worker
    "subjects/feeds.py": {"chore", "run_loops"},  # the two halves of a poll
    "subjects/logs.py": {"chore", "run_loops"},  # the writer of run logs
    "subjects/manifest_streams.py": {"chore"},  # the mirror of streams in Redis
    "subjects/metrics.py": {"chore", "run_loops"},  # the writer of counts
    "subjects/schedules.py": {"chore", "run_loops"},  # the parts of the scheduler
    "doors/intervals.py": {"chore", "run_loops"},  # the two halves of the source events
    "child_worker.py": {"run_loops"},  # the worker processes
    "serve.py": {"run_loops"},
    "loops/loop_row.py": {"chore"},
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
