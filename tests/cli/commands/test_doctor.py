import re
import socket
import sqlite3
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from longline.cli.commands import doctor
from longline.model.errors import Unavailable
from longline.settings import Loaded, Settings
from tests.cli.conftest import Command
from tests.services.clock import HandClock


def verdicts(text: str) -> dict[str, str]:
    """Return the verdict of every row of the table."""
    return {m[1].strip(): m[2] for m in re.finditer(r"^([a-z][a-z ]*)\t(ok|warn|fail)\t", text, re.M)}


def test_a_folder_that_does_not_exist_is_well_and_not_created(longline: Command, tmp_path: Path):
    outcome = longline("doctor", "--port", "0", "--data", "none")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert set(verdicts(outcome.stdout).values()) == {"ok"}
    assert outcome.stdout.count("created on first use") == 2
    assert list(tmp_path.iterdir()) == []


def test_a_fresh_folder_is_well_but_for_its_migrations(longline: Command, tmp_path: Path):
    (tmp_path / "longline-data").mkdir()
    outcome = longline("doctor", "--port", "0")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    found = verdicts(outcome.stdout)
    assert found.pop("database") == "warn"
    assert set(found) >= {
        "python",
        "packages",
        "sqlite",
        "settings",
        "data folder",
        "secret",
        "port",
        "clock",
        "objects",
    }
    assert set(found.values()) == {"ok"}
    assert "longline migrate" in outcome.stdout
    longline("migrate")
    assert set(verdicts(longline("doctor", "--port", "0").stdout).values()) == {"ok"}


def test_a_large_engine_is_looked_at_in_the_same_way(longline: Command, postgres_url: str):
    outcome = longline("doctor", "--port", "0", "--database", postgres_url)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "PostgreSQL" in outcome.stdout


def test_an_unreachable_database_fails(longline: Command):
    outcome = longline("doctor", "--port", "0", "--database", "postgresql://127.0.0.1:1/x")
    assert outcome.returncode == 1
    found = verdicts(outcome.stdout)
    assert [name for name, verdict in found.items() if verdict == "fail"] == ["engines"]
    assert found["data folder"] == "ok"


def test_an_unwritable_folder_fails(longline: Command, tmp_path: Path):
    (tmp_path / "file").write_text("")
    outcome = longline("doctor", "--port", "0", "--data", "file/data")
    assert outcome.returncode == 1
    assert verdicts(outcome.stdout)["data folder"] == "fail"
    assert outcome.stderr == ""


def test_an_unwritable_store_fails(longline: Command, tmp_path: Path):
    (tmp_path / "file").write_text("")
    outcome = longline("doctor", "--port", "0", "--objects", str(tmp_path / "file" / "objects"))
    assert outcome.returncode == 1
    assert verdicts(outcome.stdout)["objects"] == "fail"


def test_settings_without_effect_are_warned_of(longline: Command):
    outcome = longline("doctor", "--port", "0", CRAWLER_VALIDATE_URLS="1")
    assert outcome.returncode == 0
    assert verdicts(outcome.stdout)["settings"] == "warn"


# Single checks


def test_a_taken_port_is_warned_of():
    with socket.create_server(("127.0.0.1", 0)) as other:
        row = doctor.port(Settings(port=other.getsockname()[1]))
    assert row.verdict == "warn"
    assert "is in use" in row.found


@pytest.mark.parametrize(
    ("answer", "verdict"), [(b'{"service": "crawler", "status": "healthy"}', "ok"), (b'{"service": "x"}', "warn")]
)
def test_longline_itself_on_the_port_is_well(answer: bytes, verdict: str):
    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(503 if self.path == "/health" else 404)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        row = doctor.port(Settings(port=server.server_port))
        server.shutdown()
        thread.join()
    assert row.verdict == verdict, row
    assert ("longline runs on" in row.found) == (verdict == "ok")


def test_a_secret_that_others_can_read_is_warned_of(tmp_path: Path):
    settings = Settings(data=tmp_path)
    assert doctor.secret(settings).verdict == "ok"
    (tmp_path / "auth.secret").write_text("x" * 64)
    (tmp_path / "auth.secret").chmod(0o644)
    assert doctor.secret(settings).verdict == "warn"
    (tmp_path / "auth.secret").chmod(0o600)
    assert doctor.secret(settings).verdict == "ok"
    assert doctor.secret(Settings(data=tmp_path, jwt_secret="x")).found == "from the settings"


@pytest.mark.parametrize(("free", "verdict"), [(2 * 1024**3, "ok"), (500 * 1024**2, "warn"), (1024**2, "fail")])
def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str):
    class Usage:
        def __init__(self, _: Path) -> None:
            self.free = free

    monkeypatch.setattr("shutil.disk_usage", Usage)
    assert doctor.folder(Settings(data=tmp_path)).verdict == verdict


def test_settings_that_were_given_are_counted():
    loaded = Loaded(Settings(), {"port": "--port", "host": "default"})
    assert doctor.overview(loaded).found == "1 set, the others have their defaults"


class Apart:
    """A platform whose database has another time, or none."""

    def __init__(self, offset: int | None) -> None:
        self.clock = HandClock()
        self.offset = offset
        self.records = self.schema = self

    async def now(self) -> int:
        if self.offset is None:
            raise Unavailable("no answer [Errno 111]")
        return self.clock.now() + self.offset


@pytest.mark.parametrize(
    ("offset", "verdict", "found"),
    [
        (0, "ok", "0 ms behind the database"),
        (-2500, "warn", "2500 ms ahead of the database"),
        (60_000, "fail", "60000 ms behind the database"),
    ],
)
async def test_clocks_that_differ_are_told(offset: int, verdict: str, found: str):
    platform: Any = Apart(offset)
    row = await doctor.clock(platform)
    assert (row.verdict, row.found) == (verdict, found)


def test_a_stored_pattern_that_cannot_be_compiled_is_named(longline: Command, tmp_path: Path):
    assert longline("migrate").returncode == 0
    with closing(sqlite3.connect(next(tmp_path.rglob("longline.db")))) as database:
        crawl = '{"rules": {"disallow": ["(?=x)"]}}'
        words = (
            "INSERT INTO sources (name, slug, base_url, crawl, created_at, updated_at) VALUES (?1, ?1, ?2, ?3, 1, 1)"
        )
        database.execute(words, ("news", "https://a.example/", crawl))
        database.commit()
    outcome = longline("doctor", "--port", "0", COLUMNS="300")
    assert outcome.returncode == 0
    assert verdicts(outcome.stdout)["patterns"] == "warn"
    assert "rules.disallow of source news" in outcome.stdout


def test_the_rows_of_a_damaged_database_are_not_read(longline: Command, tmp_path: Path):
    (tmp_path / "longline-data").mkdir()
    longline("migrate")
    file = tmp_path / "longline-data" / "longline.db"
    with closing(sqlite3.connect(file)) as there, there:
        columns = "name, slug, base_url, created_at, updated_at, crawl"
        there.execute(f"INSERT INTO sources ({columns}) VALUES ('s', 's', 'https://a.example/', 1, 1, '{{\x01')")
        pages = there.execute("SELECT rootpage FROM sqlite_master WHERE name IN ('runs_due', 'runs_held')").fetchall()
        [size] = there.execute("PRAGMA page_size").fetchone()
    with file.open("r+b") as database:
        for (page,) in pages:
            database.seek((page - 1) * size)
            database.write(b"\xff" * size)
    outcome = longline("doctor", "--port", "0")
    assert (outcome.returncode, outcome.stderr) == (1, "")
    found = verdicts(outcome.stdout)
    assert (found["database"], found["objects"]) == ("fail", "ok")
    assert not found.keys() & {"clock", "due times", "patterns", "sinks"}
    [told] = [line for line in outcome.stdout.splitlines() if line.startswith("database\t")]
    assert "(2 faults found)" in told
