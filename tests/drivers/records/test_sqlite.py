"""Properties of SQLite alone: threads, locks between processes, the write-ahead log."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longline.drivers.records import open_database, open_records, sqlite
from longline.drivers.records.database import Transaction
from longline.drivers.records.named_queries import MAX_ROWS
from longline.drivers.records.sqlite import SqliteDatabase, statements
from longline.model.errors import CorruptDatabase, DiskFull, Unavailable
from longline.model.search.item import NewItem, Origin, new_items
from longline.model.sources.source import NewSource, SourceQuery
from longline.testing.clock import FakeClock
from tests.drivers.records.world import running_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "longline.db"


async def opened(path: Path) -> SqliteDatabase:
    database = await open_database(f"sqlite:///{path}", FakeClock())
    assert isinstance(database, SqliteDatabase)
    return database


async def value(database: SqliteDatabase, pragma: str) -> Any:
    def ask() -> Any:
        return database._writer.connection.execute(f"PRAGMA {pragma}").fetchone()[0]

    return await database._writer.run(ask)


async def test_commits_are_durable_and_readers_do_not_wait(path: Path):
    database = await opened(path)
    asked = {name: await value(database, name) for name in ("journal_mode", "synchronous", "foreign_keys")}
    assert asked == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert await value(database, "wal_autocheckpoint") == 0
    await database.close()


async def test_small_letters_are_those_of_every_script(path: Path):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    await records.sources.add(NewSource("ÄPFEL Ünï", "https://a.example/"))
    for search, amount in (("äpfel", 1), ("ÜNÏ", 1), ("Äpfel ü", 1), ("apfel", 0)):
        assert len(await records.sources.find(SourceQuery(search))) == amount, search
    await records.schema.close()


async def test_missing_folders_are_made(tmp_path: Path):
    records = await open_records(f"sqlite:///{tmp_path}/deep/er/longline.db", FakeClock())
    await records.schema.migrate()
    await records.schema.close()
    assert (tmp_path / "deep/er/longline.db").exists()


async def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot make the folder"):
        await open_records(f"sqlite:///{tmp_path}/file/longline.db", FakeClock())


async def test_a_file_that_is_no_database_is_one_line(path: Path):
    await asyncio.to_thread(path.write_bytes, b"not a database at all" * 100)
    with pytest.raises(
        CorruptDatabase, match=r"longline.db is damaged: file is not a database; restore it from a copy"
    ):
        await open_records(f"sqlite:///{path}", FakeClock())


async def test_an_old_library_is_refused_in_one_line(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(Unavailable, match=r"too old; 3\.35 or newer is needed"):
        await opened(path)


async def test_a_transaction_may_only_await_its_own_statements(path: Path):
    database = await opened(path)

    async def work(tx: Transaction) -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="may only await its own statements"):
        await database.transact(work)
    await database.close()


async def test_several_programs_share_one_file(path: Path):
    records = [await open_records(f"sqlite:///{path}", FakeClock()) for _ in range(3)]
    await records[0].schema.migrate()
    await asyncio.gather(*(r.sources.add(NewSource(f"{n}-{i}", "")) for i, r in enumerate(records) for n in range(10)))
    assert len(await records[0].sources.find()) == 30
    for each in records:
        await each.schema.close()


async def test_a_new_file_that_is_locked_is_waited_for(path: Path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    opening = asyncio.create_task(opened(path))
    done, _ = await asyncio.wait({opening}, timeout=0.1)
    assert not done
    other.execute("COMMIT")
    other.close()
    database = await asyncio.wait_for(opening, 10)
    assert await value(database, "journal_mode") == "wal"
    await database.close()


async def test_a_lock_that_is_not_released_is_one_line(path: Path):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    # The timeout of the connection, which is half a minute, is shortened.
    database: Any = records.sources
    database._database._writer.connection.execute("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="database is locked"):
        await records.sources.add(NewSource("a", ""))
    assert await records.sources.find() == [], "readers do not wait for writers"
    other.execute("ROLLBACK")
    other.close()
    assert (await records.sources.add(NewSource("a", ""))).name == "a"
    await records.schema.close()


async def test_the_log_is_moved_into_the_file_and_does_not_grow(path: Path):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    log, sizes = path.with_name("longline.db-wal"), list[int]()
    for n in range(300):
        await records.sources.add(NewSource(f"{n}", "x" * 3_000))
        sizes.append(log.stat().st_size)
    assert max(sizes[100:]) <= max(sizes[:100]) < 2_000_000, "the log has its former size"
    await records.schema.close()
    assert not log.exists()


async def test_under_load_the_log_is_moved_too(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite._Thread, "idle", False)
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    log, sizes = path.with_name("longline.db-wal"), list[int]()
    for n in range(300):
        await records.sources.add(NewSource(f"{n}", "x" * 3_000))
        sizes.append(log.stat().st_size)
    of_one = sizes[2] - sizes[1]
    assert max(sizes) < sizes[0] + 100 * of_one, "without a checkpoint the log would have all 300"
    await records.schema.close()


async def test_a_commit_does_not_fail_if_the_log_cannot_be_moved(path: Path):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    source: Any = records.sources
    refused = []

    def authorise(action: int, name: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_PRAGMA and name == "wal_checkpoint":
            refused.append(name)
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    source._database._writer.connection.set_authorizer(authorise)
    for n in range(10):
        assert (await records.sources.add(NewSource(f"{n}", ""))).name == f"{n}"
    assert refused
    source._database._writer.connection.set_authorizer(None)
    await records.schema.close()


async def test_a_cancelled_caller_does_not_stop_the_writer(path: Path):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    calls = [asyncio.create_task(records.sources.add(NewSource(f"{n}", ""))) for n in range(5)]
    await asyncio.sleep(0)
    for call in calls[:4]:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    assert (await records.sources.add(NewSource("after", ""))).name == "after"
    await records.schema.close()


def test_a_script_is_split_into_its_statements():
    text = "CREATE TABLE a (x TEXT DEFAULT ';');\n-- b;\nCREATE TABLE b (\n  y INT\n);\n"
    assert [s.strip().splitlines()[-1] for s in statements(text)] == ["CREATE TABLE a (x TEXT DEFAULT ';');", ");"]


def test_a_last_statement_without_a_semicolon_is_kept():
    assert [s.strip() for s in statements("SELECT 1;\nSELECT 2\n\n")] == ["SELECT 1;", "SELECT 2"]
    assert statements("SELECT 1;\n\n  \n") == ["SELECT 1;\n"]


@pytest.mark.parametrize("amount", [0, 1, MAX_ROWS - 1, MAX_ROWS, 3 * MAX_ROWS + 7])
async def test_rows_are_written_alike_one_by_one_and_many_at_once(path: Path, amount: int):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    database = await opened(path)
    await records.schema.migrate()
    hosts = [(f"{number}.example", number, 1 + number % 3) for number in range(amount)]

    async def write(tx: Transaction) -> list[Any]:
        await tx.batch("add_hosts", [*hosts, *hosts[:1]])
        await tx.batch("add_lines", [(host,) for host, _, _ in hosts])
        ids = {row["host"]: row["id"] for row in await tx.batch("host_ids", [(host,) for host, _, _ in hosts])}
        held = await tx.batch("hold_lines", [(ids[host], delay) for host, delay, _ in hosts])
        return [ids, held]

    ids, _ = await database.transact(write)
    connection = sqlite3.connect(path)
    told = connection.execute(
        "SELECT h.host, h.delay_ms, h.concurrency, l.not_before FROM hosts h JOIN line l ON l.host_id = h.id"
    ).fetchall()
    connection.close()
    assert sorted(told) == sorted((*host, host[1]) for host in hosts)
    assert len(ids) == amount
    await database.close()
    await records.schema.close()


async def test_statements_over_many_rows_return_the_results_of_all(path: Path):
    clock = FakeClock()
    records = await open_records(f"sqlite:///{path}", clock)
    await records.schema.migrate()
    assert (await running_run(records)).id == 1
    amount = 2 * MAX_ROWS + 3
    items = [item(number) for number in range(amount)]
    assert (await records.items.put(items)).changed == amount
    clock.advance(1)
    assert (await records.items.put([*items[1:], item(amount)])).changed == 1
    assert await records.items.waiting() == amount + 1
    await records.schema.close()


def item(number: int) -> NewItem:
    origin = Origin(1, number, f"https://a.example/{number}")
    return new_items([("page", {"title": str(number), "url": origin.url})], origin)[0]


# -- a full disk, a damaged file -------------------------------------------------------------------------------------


async def fill(tx: Transaction) -> None:
    for _ in range(100):
        await tx.script("INSERT INTO filler VALUES (zeroblob(8192));")


async def test_a_full_disk_is_named_and_no_stored_row_is_lost(path: Path):
    database = await opened(path)
    await database.transact(lambda tx: tx.script("CREATE TABLE filler (x);\nINSERT INTO filler VALUES (1);"))
    pages = await value(database, "page_count")
    await value(database, f"max_page_count = {pages + 10}")
    with pytest.raises(DiskFull, match=r"the disk is full: the database .*longline.db cannot be written; make room"):
        await database.transact(fill)
    await value(database, f"max_page_count = {pages + 10_000}")
    await database.transact(fill)
    rows = await database._reader.run(
        lambda: database._reader.connection.execute("SELECT COUNT(*) FROM filler").fetchall()
    )
    assert rows[0][0] == 101, "new room is used, and the failed transaction left nothing"
    await database.close()


def middle(data: bytearray) -> bytearray:
    for start in range(8192, len(data) - 4096, 8192):
        data[start : start + 4096] = bytes(range(256)) * 16
    return data


def half(data: bytearray) -> bytearray:
    return data[: len(data) // 2]


def no_database(_: bytearray) -> bytearray:
    return bytearray(b"this is no database" * 100)


@pytest.mark.parametrize("damage", [middle, half, no_database])
async def test_a_damaged_file_is_reported_in_one_sentence(path: Path, damage: Callable[[bytearray], bytearray]):
    records = await open_records(f"sqlite:///{path}", FakeClock())
    await records.schema.migrate()
    assert await records.schema.problems() == await records.schema.problems(deep=True) == []
    await records.schema.close()
    rewrite(path, damage)
    with pytest.raises(CorruptDatabase, match=r"longline.db is damaged: .*; restore it from a copy"):
        await look_everywhere(path)


def rewrite(path: Path, damage: Callable[[bytearray], bytearray]) -> None:
    path.write_bytes(damage(bytearray(path.read_bytes())))


async def look_everywhere(path: Path) -> None:
    """Open a file and check it for faults; raise the first one, as a command would."""
    records = await open_records(f"sqlite:///{path}", FakeClock())
    try:
        assert await records.schema.problems(deep=True)
        await records.sources.add(NewSource("a", "https://a.example/"))
        await records.sources.find(SourceQuery())
        await records.runs.find(limit=1)
        await records.segments.find()
    finally:
        await records.schema.close()
