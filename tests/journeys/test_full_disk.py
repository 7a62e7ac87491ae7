"""A disk without room, and a file that is no database: one line with the remedy, and no loss."""

import ctypes
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.archive import ask, records
from tests.journeys.place import LOOPBACK, Place, wait_until
from tests.servers import program
from tests.servers.disk import mounting, small_disk
from tests.web import SiteHandle, running_site

PAGES = 300
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def longline(*words: str) -> subprocess.CompletedProcess[str]:
    return program.run(*words)


def crawl(site: SiteHandle, out: Path) -> subprocess.CompletedProcess[str]:
    return longline("crawl", site.url, "--depth", "30", "--out", str(out))


def assert_one_line(done: subprocess.CompletedProcess[str], text: str) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert text in done.stderr


@pytest.mark.parametrize("megabytes", [1, 2, 3, 4])
@mounting
def test_a_crawl_stops_at_a_full_disk_and_goes_on_when_there_is_room(tmp_path: Path, megabytes: int):
    with running_site(pages=PAGES) as site, small_disk(tmp_path / "disk", megabytes) as disk:
        assert_one_line(crawl(site, disk.folder / "out"), "disk is full")
        disk.resize(128)
        done = crawl(site, disk.folder / "out")
        assert done.returncode == 0, done.stderr
        assert records(disk.folder / "out") == Counter(site.page_urls)
        assert ask(disk.folder / "out", "SELECT COUNT(*) FROM segments WHERE state <> 'stored'") == [(0,)]


@mounting
def test_an_export_onto_a_full_disk_writes_nothing_and_says_so(tmp_path: Path):
    with running_site(pages=40) as site, small_disk(tmp_path / "disk", 1) as disk:
        assert crawl(site, tmp_path / "data").returncode == 0
        disk.fill()
        for formats in ("warc", "jsonl", "parquet", "csv"):
            words = ("--data", str(tmp_path / "data"), "--out", str(disk.folder / "out"), "--formats", formats)
            assert_one_line(longline("export", *words), "disk is full")
        assert not [path for path in disk.folder.rglob("*") if path.is_file() and path.name != "filler"]


def without_root_powers() -> None:
    """Drop root's powers in a child process: the modes of files bind it too."""
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (False, "crawl http://127.0.0.1:9/ --out {data}"),
        (False, "up --port 0 --data {data}"),
        (True, "crawl http://127.0.0.1:9/ --out {data}"),
        (True, "up --port 0 --data {data}"),
    ],
)
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, used: bool, words: str):
    data = tmp_path / "data"
    data.mkdir()
    if used:
        assert longline("migrate", "--data", str(data)).returncode == 0
    for path in (*data.rglob("*"), data):
        path.chmod(0o555 if path.is_dir() else 0o444)
    command = [sys.executable, "-m", "longline.cli", *words.format(data=data).split()]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, preexec_fn=without_root_powers
        )
    finally:
        for path in (data, *data.rglob("*")):
            path.chmod(0o755)
    assert_one_line(done, str(data))
    assert "cannot be" in done.stderr


@mounting
def test_health_tells_of_a_full_disk_and_the_work_goes_on_afterwards(tmp_path: Path):
    with running_site(pages=PAGES) as site, small_disk(tmp_path / "disk", 24) as disk:
        place = Place(disk.folder / "data")
        place.data.mkdir()
        port_file = tmp_path / "told"
        words = ["up", "--port", "0", *place.flags]
        with port_file.open("wb") as told:
            process = program.Program(words, env=os.environ | LOOPBACK, stdout=told, stderr=told)
        try:
            wait_until(lambda: address(port_file), "it listens")
            url = address(port_file)
            assert health(url)[0] == 200
            place.give_work(site)
            wait_until(lambda: place.value("SELECT COUNT(*) FROM pages"), "the first pages are there")
            disk.fill()
            wait_until(lambda: health(url)[1]["status"] == "unhealthy", "the disk is told to be full")
            status, body = health(url)
            assert status == 503
            assert "disk full" in {check.get("error") for check in body["checks"].values()}
            time.sleep(1)
            disk.free()
            wait_until(lambda: health(url)[1]["status"] == "healthy", "there is room again")
            wait_until(lambda: place.value("SELECT COUNT(*) FROM runs WHERE state = 'completed'"), "the run ends")
        finally:
            process.terminate()
            process.wait(timeout=60)
        place.assert_whole(site)
        assert b"Traceback" not in port_file.read_bytes()


def address(told: Path) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+", told.read_text())
    return found[0] if found else ""


def health(url: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


# A file that is no database


def spoil(database: Path) -> None:
    data = bytearray(database.read_bytes())
    for start in range(8192, len(data) - 4096, 8192):
        data[start : start + 4096] = bytes(range(256)) * 16
    database.write_bytes(data)


def cut(database: Path) -> None:
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])


def replace(database: Path) -> None:
    database.write_bytes(b"this is no database" * 1000)


def spoil_pages(database: Path) -> None:
    """Damage the table of pages alone: the file can be opened, and most of it can be read."""
    with sqlite3.connect(database) as connection:
        [(page,)] = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'pages'")
        [(size,)] = connection.execute("PRAGMA page_size")
    connection.close()
    data = bytearray(database.read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    database.write_bytes(data)


def test_damage_inside_a_table_is_one_line_and_doctor_finds_it(tmp_path: Path):
    with running_site(pages=40) as site:
        assert crawl(site, tmp_path).returncode == 0
        spoil_pages(tmp_path / "longline.db")
        assert_one_line(longline("crawl", site.url, "--out", str(tmp_path), "--again"), "longline.db is damaged: ")
    words = ("export", "--run", "1", "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert_one_line(longline(*words), "longline.db is damaged: ")
    done = longline("doctor", "--port", "0", "--data", str(tmp_path))
    assert done.returncode == 1
    assert re.search(r"database\tfail\tdamaged:", done.stdout), done.stdout


@pytest.mark.parametrize("damage", [spoil, cut, replace])
def test_a_damaged_database_is_one_line_and_doctor_finds_it(tmp_path: Path, damage: Any):
    with running_site(pages=40) as site:
        assert crawl(site, tmp_path).returncode == 0
        damage(tmp_path / "longline.db")
        for words in (
            ("crawl", site.url, "--out", str(tmp_path), "--again"),
            ("export", "--data", str(tmp_path), "--out", str(tmp_path / "out")),
            ("page", site.url, "--data", str(tmp_path)),
        ):
            assert_one_line(longline(*words), "longline.db is damaged: ")
    for more in ((), ("--deep",)):
        done = longline("doctor", "--port", "0", "--data", str(tmp_path), *more)
        assert done.returncode == 1
        assert re.search(r"database\tfail\tdamaged:|engines\tfail\t", done.stdout), done.stdout
        assert done.stderr == ""
