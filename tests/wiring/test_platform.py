import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from longline.drivers.process_lock import PROCESS_LOCKS_FOLDER
from longline.engine.frontier import lapsed_leases
from longline.model.errors import LonglineError, Unavailable
from longline.model.frontier.task import NewTask
from longline.model.frontier.worker import WorkerRow
from longline.model.runs.run import NewRun, RunKind
from longline.plugins import Page
from longline.ports.records.frontier.frontier import ClaimRequest, HostSetting
from longline.ports.records.schedules import PageChanges
from longline.settings import Settings
from longline.wiring import platform as platform_module
from longline.wiring.platform import Platform, migrate_tables, open_platform, registered_worker

ROOT = Path(__file__).parents[2]
ROLES = frozenset({"fetch", "parse"})


def marks(settings: Settings) -> list[Path]:
    folder = settings.data / PROCESS_LOCKS_FOLDER
    return sorted(folder.iterdir()) if folder.exists() else []


async def hold_something(platform: Platform, owner: int) -> None:
    """Lease a host and begin a segment, and release neither."""
    run = await platform.records.runs.add(NewRun("u", RunKind.CRAWL, "{}"))
    await platform.records.frontier.ensure_hosts([HostSetting("a.example", 0, 1)])
    task = NewTask("https://a.example/", "a.example", b"k" * 16, run.id, run.id)
    await platform.records.frontier.admit([task], {})
    assert await platform.records.frontier.claim(ClaimRequest(owner, 1, 10, 30_000))
    await platform.records.segments.begin("warc/half", owner)
    await platform.blobs.put("warc/half", b"half")


async def free(platform: Platform) -> bool:
    """Return whether no worker is registered, no object is stored and the host can be claimed."""
    keys = [info.key async for info in platform.blobs.list()]
    again = await platform.records.frontier.claim(ClaimRequest(999, 1, 10, 30_000))
    return not await platform.records.workers.find() and not keys and len(again) == 1


async def test_a_platform_is_opened_with_every_engine_and_closed(settings: Settings):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=False)
        assert (await platform.records.schema.version()).startswith("SQLite")
        assert await platform.records.schema.pending() == []
        assert await platform.signals.check() == "in process"
        assert "folder" in await platform.blobs.check()
    assert (settings.data / "longline.db").exists()
    assert not (settings.data / "longline.db-wal").exists(), "the log was moved into the file"


async def test_opened_engines_are_closed_if_a_later_one_fails(settings: Settings):
    broken = msgspec.structs.replace(settings, redis="redis://127.0.0.1:not-a-port")
    before = asyncio.all_tasks()
    with pytest.raises(LonglineError):
        async with open_platform(broken):
            pass
    assert not (settings.data / "longline.db-wal").exists()
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"data": Path("/dev/null/data")}, "data folder /dev/null/data cannot be written"),
        ({"database": "sqlite:////dev/null/x.db"}, "cannot make the folder /dev/null"),
        ({"database": "postgresql://nobody@127.0.0.1:1/none"}, "cannot reach the database at 127.0.0.1:1/none"),
        ({"objects": "ftp://a.example/"}, "no object store is called ftp"),
    ],
)
async def test_the_error_of_an_engine_that_cannot_be_opened_is_one_line(
    settings: Settings, change: dict[str, object], said: str
):
    with pytest.raises(LonglineError, match=said) as raised:
        async with open_platform(msgspec.structs.replace(settings, **change)):
            pass
    assert "\n" not in str(raised.value)


async def test_a_service_does_not_change_tables_by_itself(settings: Settings, postgres_url: str):
    async with open_platform(msgspec.structs.replace(settings, database=postgres_url)) as platform:
        with pytest.raises(Unavailable, match="migrations behind; run: longline migrate"):
            await migrate_tables(platform, may_migrate=False)
        await migrate_tables(platform, may_migrate=True)
        await migrate_tables(platform, may_migrate=False)


async def test_a_worker_is_registered_while_it_runs(settings: Settings):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with registered_worker(platform, ROLES) as owner:
            [row] = await platform.records.workers.find()
            assert (row.id, row.roles) == (owner, "download,fetch,parse")
            assert [m.name for m in marks(settings)] == [row.mark]
            assert not platform.presence.gone(row.mark)
        assert (await platform.records.workers.find(), marks(settings)) == ([], [])


async def test_a_worker_that_was_taken_for_dead_is_entered_again(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(platform_module, "HEARTBEAT_INTERVAL_SECONDS", 0.01)
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with registered_worker(platform, ROLES) as owner:
            monkeypatch.setattr(lapsed_leases, "DEAD_AFTER_MS", -1000)
            assert await platform.reaper.reap_dead_workers() == 1
            monkeypatch.undo()
            found: list[WorkerRow] = []
            async with asyncio.timeout(30):
                while not found:
                    await asyncio.sleep(0.01)
                    found = await platform.records.workers.find()
            assert [(row.id, row.roles) for row in found] == [(owner, "download,fetch,parse")]
            assert [m.name for m in marks(settings)] == [found[0].mark], "the worker lives, and its mark shows it"
        assert (await platform.records.workers.find(), marks(settings)) == ([], [])


async def join_and_fail(platform: Platform) -> None:
    async with registered_worker(platform, ROLES) as owner:
        await hold_something(platform, owner)
        raise ZeroDivisionError


async def test_a_worker_leaves_no_lease_and_no_unfinished_segment(settings: Settings):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        with pytest.raises(ZeroDivisionError):
            await join_and_fail(platform)
        assert await free(platform)


async def join_and_lose_the_database(folder: str) -> None:
    """Register a worker that cannot be removed any more, as the process of the next test does."""
    async with open_platform(Settings(data=Path(folder))) as platform:
        await migrate_tables(platform, may_migrate=True)

        async def fail(*_: object) -> int:
            raise Unavailable("no database")

        async with registered_worker(platform, ROLES) as owner:
            await hold_something(platform, owner)
            type(platform.records.workers).remove = fail  # type: ignore[method-assign, assignment]  # from here on


async def test_a_worker_that_could_not_be_removed_is_found_dead(settings: Settings):
    script = "import asyncio, sys; from tests.wiring import test_platform as t; asyncio.run({}(sys.argv[1]))"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script.format("t.join_and_lose_the_database"), str(settings.data)),
        cwd=ROOT,
        stderr=asyncio.subprocess.PIPE,
    )
    _, said = await process.communicate()
    assert process.returncode == 1
    assert b"no database" in said
    assert len(marks(settings)) == 1
    async with open_platform(settings) as platform:
        assert await platform.reaper.reap_dead_workers() == 1
        assert await free(platform)
    assert marks(settings) == []


async def test_a_worker_that_cannot_be_registered_leaves_no_mark(settings: Settings):
    async with open_platform(settings) as platform:  # no tables: no worker can be registered
        with pytest.raises(LonglineError):
            async with registered_worker(platform, ROLES):
                pass
    assert marks(settings) == []


def parser_processes() -> list[int]:
    """Return the ids of the parser processes of this process."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended meanwhile
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"parser_process" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


async def test_parsers_that_take_long_have_processes_that_close_with_the_platform(settings: Settings):
    page = Page("https://a.example/", b"<title>T</title>", content_type="text/html", config={"parser": "article"})
    async with open_platform(settings) as platform:
        assert (await platform.parser.parse(page)).title == "T"
        assert len(parser_processes()) == 1
    assert not parser_processes()
    async with open_platform(msgspec.structs.replace(settings, parse_processes=0)) as platform:
        assert (await platform.parser.parse(page)).title == "T"
        assert not parser_processes()


@pytest.mark.parametrize(("where", "kept"), [("redis", False), ("database", True)])
async def test_adaptive_intervals_need_a_store_of_page_changes(settings: Settings, where: str, kept: bool):
    async with open_platform(msgspec.structs.replace(settings, rhythms=where)) as platform:
        await migrate_tables(platform, may_migrate=True)
        await platform.page_change_store.save("7", PageChanges("sha256:ab", 1, 2, 3))
        assert (await platform.page_change_store.get("7") is not None) == kept
        await platform.page_change_store.forget("7")
        assert await platform.page_change_store.get("7") is None
