"""A lost or damaged segment: found, named page by page, left out of exports, and healed by fetching again."""

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from longline.drivers.blobs import open_blobs
from tests.journeys.archive import ask
from tests.journeys.place import LOOPBACK, Place, wait_until
from tests.servers import program
from tests.servers.postgres import apart
from tests.web import SiteHandle, running_site

PAGES = 12

Damage = Callable[[Path], None]


def longline(*words: str, code: int = 0) -> str:
    done = program.run(*words)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def crawl(site: SiteHandle, out: Path, *more: str) -> str:
    return longline("crawl", site.url, "--depth", "9", "--out", str(out), *more)


def deep(out: Path, *more: str, code: int = 0) -> str:
    return longline("doctor", "--deep", "--port", "0", "--data", str(out), *more, code=code)


def segments(out: Path) -> list[Path]:
    return sorted((out / "warc").rglob("*.warc.gz"))


def largest(out: Path) -> Path:
    return max(segments(out), key=lambda file: file.stat().st_size)


def remove(file: Path) -> None:
    file.unlink()


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x10
    file.write_bytes(data)


DAMAGES = [remove, truncate, empty, flip]


def damaged_urls(told: str) -> set[str]:
    return {line.split()[1] for line in told.splitlines() if line.startswith("damaged: http")}


def bodies(file: Path) -> dict[str, bytes]:
    """Return the bodies of an exported WARC file, read and checked by another program."""
    with file.open("rb") as stream:
        return {
            record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
            for record in ArchiveIterator(stream, check_digests="raise")
            if record.rec_type == "response"
        }


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_named_and_left_out_of_exports(tmp_path: Path, damage: Damage):
    data, out = tmp_path / "data", tmp_path / "out"
    with running_site(pages=PAGES) as site:
        crawl(site, data)
    assert "archive" in deep(data)
    damage(largest(data))
    named = damaged_urls(deep(data, code=1))
    assert named
    assert named <= set(site.page_urls)
    told = longline("export", "--data", str(data), "--out", str(out), code=1)
    assert damaged_urls(told) == named
    written = bodies(out / "pages.warc.gz") if (out / "pages.warc.gz").exists() else {}
    assert set(written) == set(site.page_urls) - named
    assert f"{len(named)} of {PAGES} pages are damaged" in told
    told = longline("reparse", "--data", str(data), code=1)
    assert f"error: {len(named)} of {PAGES} pages failed" in told
    assert f"to fetch the {len(named)} damaged pages again: longline doctor --deep --repair" in told
    one = min(named)
    told = longline("page", one, "--data", str(data), code=1)
    assert told.startswith(f"error: the page of {one}, task ")
    assert told.endswith("to fetch it again: longline doctor --deep --repair, or longline crawl --again\n")


@pytest.mark.parametrize(
    ("damage", "etags"),
    [(remove, False), (remove, True), (truncate, False), (flip, True)],
    ids=lambda value: getattr(value, "__name__", "etags" if value is True else "none"),
)
def test_a_second_crawl_heals_damaged_pages(tmp_path: Path, damage: Damage, etags: bool):
    with running_site(pages=PAGES) as site:
        site.site.etags = etags
        crawl(site, tmp_path)
        damage(largest(tmp_path))
        named = damaged_urls(deep(tmp_path, code=1))
        crawl(site, tmp_path, "--again")
    assert damaged_urls(deep(tmp_path)) == set(), "every page has a later capture that is whole"
    rows = ask(
        tmp_path, "SELECT url FROM pages WHERE body_of IS NULL AND task_id > (SELECT MAX(task_id) / 2 FROM pages)"
    )
    assert {url for (url,) in rows} == named, "intact pages are not kept twice, damaged ones are kept anew"
    longline("export", "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert set(bodies(tmp_path / "out" / "pages.warc.gz")) == set(site.page_urls)
    for url in named:
        assert longline("page", url, "--data", str(tmp_path))


def test_a_revisit_of_a_damaged_page_is_damaged_and_heals_too(tmp_path: Path):
    with running_site(pages=PAGES) as site:
        site.site.etags = True
        crawl(site, tmp_path)
        first = largest(tmp_path)
        crawl(site, tmp_path, "--again")
        remove(first)
        told = deep(tmp_path, code=1)
        lost = len(damaged_urls(told))
        assert told.count("damaged: http") == 2 * lost, "each page of the first run, and the revisit that refers to it"
        crawl(site, tmp_path, "--again")
    assert damaged_urls(deep(tmp_path)) == set()


def test_repair_fetches_damaged_pages_again_on_the_platform(place: Place):
    with running_site(pages=PAGES) as site:
        site.site.etags = True
        place.give_work(site)
        work(place, lambda: place.value("SELECT COUNT(*) FROM runs WHERE state = 'completed'") == 1)
        key = place.value("SELECT key FROM segments ORDER BY bytes DESC LIMIT 1")
        apart(partial(lose, place, key))
        command = ["doctor", "--deep", "--port", "0", *place.flags]
        named = damaged_urls(longline(*command, code=1))
        before = len(site.requests)
        told = longline(*command, "--repair", code=1)
        assert f"{len(named)} pages are queued" in told
        work(place, lambda: place.value("SELECT COUNT(*) FROM runs WHERE state = 'completed'") == 2)
        again = [visit for visit in site.requests[before:] if visit.path != "/robots.txt"]
        assert len(again) == len(named)
        assert not [visit for visit in again if "if-none-match" in visit.headers], "no request is conditional"
    assert damaged_urls(longline(*command)) == set()


async def lose(place: Place, key: str) -> None:
    await open_blobs(place.settings.objects).delete([key])


def work(place: Place, done: Callable[[], bool]) -> None:
    """Run a worker until something is so."""
    words, env = ["up", "--port", "0", *place.flags], os.environ | LOOPBACK
    process = program.Program(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_until(done, "the run ends")
    finally:
        process.terminate()
        _, told = process.communicate(timeout=60)
    assert process.returncode == 0, told
