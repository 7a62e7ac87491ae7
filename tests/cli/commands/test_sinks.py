"""`longline sinks`: lags, positions and skipped items, and no secret of an address."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.model.sinks.sink import SinkAddress
from tests.cli.commands.test_doctor import verdicts
from tests.cli.conftest import Command, assert_one_line
from tests.drivers.records.sinks.items import add_items
from tests.drivers.records.world import running_run

CANARY = "books=https://me:canary-1@a.example/in?token=canary-2#whsec_canary-3"


def fail(folder: Path) -> None:
    """Let a sink refuse the first of two items of a run."""

    async def work() -> None:
        records = await open_records(f"sqlite:///{folder / 'longline-data' / 'longline.db'}", SystemClock())
        run = await running_run(records)
        await add_items(records, run, 2)
        await records.sinks.register(SinkAddress.parse(CANARY))
        sink = await records.sinks.register_for(SinkAddress.parse(CANARY), run.id)
        lease = await records.sinks.claim(sink.id, 1, 1000)
        assert lease is not None
        await records.sinks.refuse(lease, run.id, 1, "answered with status 422", 1)
        await records.schema.close()

    asyncio.run(work())


def test_a_refused_item_is_shown_and_skipped(longline: Command, tmp_path: Path):
    longline("migrate")
    assert "no sinks" in longline("sinks", "list").stderr
    fail(tmp_path)
    told = [longline("sinks", "list", COLUMNS="200"), longline("sinks", "show", "books", COLUMNS="200")]
    assert all(word in told[0].stdout for word in ("books", "https://a.example/in", "refuses items"))
    assert "answered with status 422" in told[1].stdout
    assert "sinks skip 1 --run 1 --position 1\n" in told[1].stderr
    found = longline("doctor", "--port", "0", COLUMNS="200", LONGLINE_SINKS=CANARY)
    assert verdicts(found.stdout)["sinks"] == "warn"
    assert "books (https://a.example/in): refuses items" in found.stdout
    assert_one_line(longline("sinks", "skip", "books", "--run", "1", "--position", "2"), 1, "is at position 1, not 2")
    folder = str(tmp_path / "longline-data")
    place = ("--data", folder, "--database", f"sqlite:///{folder}/longline.db")
    assert f"sinks show 1 {' '.join(place)}" in longline("sinks", "list", *place).stdout
    assert f"--position 1 {' '.join(place)}\n" in longline("sinks", "show", "1", *place).stderr
    skipped = longline("sinks", "skip", "books", "--run", "1", "--position", "1")
    assert skipped.stdout == "sink books never gets book https://a.example/0 of run 1\n", skipped.stderr
    told += [
        longline("sinks", "show", "1"),
        longline("sinks", "retry", "1"),
        longline("settings", LONGLINE_SINKS=CANARY),
    ]
    assert "run 1, position 1: answered with status 422" in told[2].stderr
    assert told[3].stdout == "sink books is tried at once\n"
    assert_one_line(longline("sinks", "remove", "books"), 1, "take it out of the setting sinks")
    assert_one_line(longline("sinks", "show", "7"), 1, "there is no sink 7; longline sinks list shows all")
    with closing(sqlite3.connect(tmp_path / "longline-data" / "longline.db")) as records:
        audited = records.execute("SELECT action, door, after FROM audit ORDER BY id").fetchall()
    skip = '{"id":1,"run":1,"position":1,"error":"answered with status 422"}'
    assert audited == [("sink.skip", audited[0][1], skip), ("sink.retry", audited[0][1], '{"id":1}')]
    assert "canary" not in "".join(one.stdout + one.stderr for one in (*told, found))


def test_a_wrong_setting_shows_no_secret(longline: Command):
    for wrong in ("https://me:canary@[", "books=https://me:canary@a.example:port/", "b=x://canary@h,b=x://canary@i"):
        told = longline("sinks", "list", LONGLINE_SINKS=wrong)
        assert told.returncode != 0
        assert "canary" not in told.stdout + told.stderr
