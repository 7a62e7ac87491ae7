"""Commands about catalogues, without a server."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Command, assert_one_line

NOBODY = "00000000-0000-7000-8000-000000000000"
SOURCE = ("--source", "100000")


def test_a_source_a_series_and_its_runs(longline: Command):
    longline("migrate")
    added = longline("series", "add-source", "comics", "https://c.example/", "--extension", "com.example.site")
    assert added.stdout == "100000 comics: com.example.site\n"
    assert longline("series", "sources").stdout == "100000\tcomics\tenabled\t0\tcom.example.site\thttps://c.example/\n"
    series = longline("series", "add", "A Tale").stdout.strip()
    assert longline("series", "list", "tale").stdout.split("\t")[:2] == [series, "A Tale"]
    assert_one_line(
        longline("series", "start", *SOURCE, "--series", series), 2, "has no active target on source comics"
    )
    linked = longline("series", "link", series, "https://c.example/1", *SOURCE, "--external-id", "x1")
    assert linked.stdout == "target 1 made\n"
    run = longline("series", "start", *SOURCE, "--series", series).stdout.strip()
    assert_one_line(longline("series", "start", *SOURCE, "--series", series), 1, "queued or running")
    assert longline("series", "runs").stdout.split("\t")[:4] == [run, "100000", series, "queued"]
    assert longline("series", "logs", run, "--no-follow").stdout == ""
    assert longline("series", "cancel", run, "--reason", "enough").stdout == f"{run} is cancelled\n"
    health = json.loads(longline("series", "health", *SOURCE).stdout)
    assert (health["states"], health["failures"], health["last"]) == ({"cancelled": 1}, 0, run)
    audited = longline("audit", "--limit", "50").stdout
    for action in ("source.create", "series.create", "target.create", "run.trigger", "run.cancel"):
        assert action in audited, action


@pytest.mark.parametrize(("given", "stored"), [((), "{}"), (("{}",), "{}"), (('{"ratelimit": 5}',), '{"ratelimit":5}')])
def test_the_config_of_a_source_is_always_an_object(
    longline: Command, tmp_path: Path, given: tuple[str, ...], stored: str
):
    longline("migrate")
    config = [word for text in given for word in ("--extension-config", text)]
    longline("series", "add-source", "comics", "https://c.example/", "--extension", "com.example.site", *config)
    [file] = tmp_path.glob("**/longline.db")
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT extension_config FROM sources").fetchall() == [(stored,)]


def test_switches(longline: Command):
    longline("migrate")
    longline("series", "add-source", "comics", "https://c.example/", "--extension", "com.example.site")
    assert longline("series", "disable", *SOURCE).stdout == "comics is disabled\n"
    assert_one_line(longline("series", "start", *SOURCE), 2, "source comics is disabled: enable it first")
    assert longline("series", "enable", *SOURCE).stdout == "comics is enabled\n"
    assert longline("series", "pause").stdout == "queued runs of catalogues are paused\n"
    assert longline("series", "pause").stdout == "queued runs of catalogues are paused already\n"
    assert longline("series", "resume").stdout == "queued runs of catalogues are not paused\n"
    assert longline("series", "replace-stuck").stdout == ""


def test_unknown_things_are_told_in_one_line(longline: Command):
    longline("migrate")
    assert_one_line(longline("series", "cancel", NOBODY), 1, f"no such run: {NOBODY}")
    assert_one_line(longline("series", "health", *SOURCE), 1, "no such source: 100000")
    wrong = longline(
        "series", "add-source", "c", "https://c.example/", "--extension", "a.b", "--extension-config", "[1]"
    )
    assert_one_line(wrong, 2, "--extension-config")
