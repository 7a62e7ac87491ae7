"""Backups of a platform in the middle of a crawl, made and restored by the manual; the crawl goes on from them."""

import os
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cli.conftest import surroundings
from tests.journeys.place import Place, wait_until
from tests.journeys.test_how_to_limit import commands
from tests.journeys.test_serve import Up, up
from tests.servers import PostgresServer
from tests.servers.postgres import find_binaries
from tests.servers.shell import type_command
from tests.web import SiteHandle, running_site

PAGE = "back-up.md"
PAGES, AT_THE_DATABASE, AT_THE_OBJECTS = 240, 80, 160
QUICK = {"LONGLINE_LEASE": "2s", "LONGLINE_REAP": "200ms"}


class Operator:
    """A user who types the commands of the manual; its folders are replaced by folders of the test."""

    def __init__(self, folder: Path, programs: Path | None = None, **given: str) -> None:
        self._folder, self._given, self._path = folder, given, f"PATH={programs}:$PATH; " if programs else ""

    def type(self, line: str) -> str:
        led = f"{self._path}{line.replace('/srv/', f'{self._folder}/srv/')}"
        done = type_command(led, surroundings(self._given), self._folder)
        assert done.returncode == 0, (led, done.stdout + done.stderr)
        return done.stdout


def kill(it: Up) -> None:
    os.killpg(it.process.pid, signal.SIGKILL)
    it.process.wait()


def crawl_up_to(site: SiteHandle, pages: int) -> None:
    """Let a crawl go on up to so many visits, and no further."""
    site.hold(after=pages)
    wait_until(lambda: len(site.requests) > pages, f"{pages} visits")


def kept(place: Place) -> int:
    return int(place.value("SELECT COUNT(*) FROM pages"))


def copy_in_the_middle(place: Place, site: SiteHandle, copy: Sequence[Callable[[], object]]) -> None:
    """Copy the database and then the objects, while pages arrive; then lose the platform."""
    copy_database, copy_objects = copy
    with up(place, **QUICK) as it:
        place.give_work(site)
        crawl_up_to(site, AT_THE_DATABASE)
        wait_until(lambda: kept(place) > AT_THE_DATABASE // 2, "pages")
        copy_database()
        before = kept(place)
        crawl_up_to(site, AT_THE_OBJECTS)
        wait_until(lambda: kept(place) > before, "pages that the copy of the database does not name")
        copy_objects()
        kill(it)
    site.let_go()


def assert_goes_on(place: Place, site: SiteHandle) -> None:
    """Start the restored platform: its crawl ends with every page, once."""
    assert 0 < kept(place) < AT_THE_OBJECTS
    with up(place, **QUICK) as it:
        wait_until(lambda: place.value("SELECT state FROM runs") == "completed", "the end of the crawl")
        it.stop()
    assert place.ask("SELECT completed, failed, open FROM runs_now") == [(PAGES, 0, 0)]
    urls = [url for (url,) in place.ask("SELECT url FROM tasks WHERE state = 'completed'")]
    assert sorted(urls) == sorted(site.page_urls)
    assert set(place.records()) == set(site.page_urls)
    place.assert_sums_reconcile()


def test_a_folder_is_copied_while_the_platform_runs(tmp_path: Path) -> None:
    lines = commands(PAGE)
    make, database, objects, *restore, check, start = lines[: lines.index("longline up --data /srv/restored") + 1]
    operator = Operator(tmp_path)
    lost, restored = (Place(tmp_path / f"srv/{name}") for name in ("longline", "restored"))
    with running_site(pages=PAGES) as site:
        operator.type(make)
        copy_in_the_middle(lost, site, [lambda: operator.type(database), lambda: operator.type(objects)])
        lost.data.rename(tmp_path / "lost")
        for line in restore:
            operator.type(line)
        assert re.search(r"archive\s+ok\s+\d+ segments, \d+ records", operator.type(check))
        assert start.endswith(f"--data {str(restored.data).removeprefix(str(tmp_path))}")
        assert_goes_on(restored, site)
    assert (restored.data / "auth.secret").read_bytes() == (tmp_path / "lost/auth.secret").read_bytes()


def test_postgresql_is_dumped_while_the_platform_runs(tmp_path: Path, postgres_server: PostgresServer) -> None:
    dump, restore, check = (line for line in commands(PAGE) if "$LONGLINE_DATABASE" in line or line.endswith(" --deep"))
    programs = find_binaries().folder
    objects = {name: (tmp_path / name).as_uri() for name in ("objects", "copied")}
    with running_site(pages=PAGES) as site, postgres_server.fresh_database() as lost:
        (tmp_path / "backup").mkdir()
        operator = Operator(tmp_path, programs, LONGLINE_DATABASE=lost)
        copy = [lambda: operator.type(dump), lambda: operator.type("cp -r objects copied")]
        copy_in_the_middle(Place(tmp_path / "data", {"database": lost, "objects": objects["objects"]}), site, copy)
        with postgres_server.fresh_database() as url:
            restored = Place(tmp_path / "restored", {"database": url, "objects": objects["copied"]})
            operator = Operator(tmp_path, programs, LONGLINE_DATABASE=url, LONGLINE_OBJECTS=objects["copied"])
            operator.type(restore)
            assert re.search(r"archive\s+ok\s+\d+ segments, \d+ records", operator.type(check))
            assert_goes_on(restored, site)
