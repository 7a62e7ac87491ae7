"""Two visits of a site, replayed by pywb: every fetched page is shown, and every redirect."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from tests.journeys.archive import ask
from tests.journeys.place import wait_until
from tests.servers import program
from tests.servers.replay import Replay, replaying
from tests.web import running_site
from tests.web.wire import Answer

PAGES = 6


def crawl(url: str, out: Path, *more: str) -> None:
    done = program.run("crawl", url, "--depth", "9", "--out", str(out), *more)
    assert done.returncode == 0, done.stderr


def moved(to: str) -> Answer:
    return Answer(302, headers=(("Location", to),))


@pytest.mark.parametrize("etags", [True, False], ids=["not modified", "identical"])
def test_every_page_of_two_visits_is_shown(tmp_path: Path, etags: bool):
    with running_site(pages=PAGES) as site, running_site(pages=2) as elsewhere:
        site.site.etags = elsewhere.site.etags = etags
        links = (
            f'<title>Start</title><a href="/">home</a><a href="/old">old</a><a href="{elsewhere.url}page/1">away</a>'
        )
        site.site.extra |= {
            "/start": links.encode() + b'<a href="/away">moved away</a>',
            "/old": moved("/older"),
            "/older": moved("/new"),
            "/new": b"<title>New</title>",
            "/away": moved(f"{elsewhere.url}page/1"),
        }
        seed = f"{site.url}start"
        crawl(seed, tmp_path / "data", "--offsite")
        crawl(seed, tmp_path / "data", "--offsite", "--again")
        visits = len([v for v in site.requests + elsewhere.requests if v.path != "/robots.txt"])
    files = sorted((tmp_path / "data").rglob("warc/**/*.warc.gz"))
    assert_sound(files)
    with replaying(tmp_path / "replay", files) as replay:
        wait_until(lambda: answers(replay), "pywb listens")
        shown = {(at, url): replay.show(at, url) for at, url in replay.captures}
    pages = {url for (url,) in ask(tmp_path / "data", "SELECT url FROM pages")}
    assert len(replay.captures) == visits, "every answer is in the index, each once"
    for (at, url), page in shown.items():
        if url in pages:
            assert (page.status, bool(page.body)) == (200, True), f"{url} at {at}: {page}"
        else:
            assert page.status == 302, f"{url} at {at}: {page}"
            assert page.location
    titles = {url: {page.body for (_, other), page in shown.items() if other == url} for url in pages}
    assert all(len(found) == 1 for found in titles.values()), "both visits show the same page"
    for path in ("old", "older", "away"):
        assert f"{site.url}{path}" in {url for _, url in shown}


def test_an_export_of_the_second_visit_is_whole_by_itself(tmp_path: Path):
    with running_site(pages=PAGES) as site:
        site.site.etags = True
        crawl(site.url, tmp_path / "data")
        crawl(site.url, tmp_path / "data", "--again")
    words = ["export", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--formats", "warc"]
    program.run(*words).check_returncode()
    file = tmp_path / "out" / "pages.warc.gz"
    assert_sound([file])
    with replaying(tmp_path / "replay", [file]) as replay:
        wait_until(lambda: answers(replay), "pywb listens")
        assert {replay.show(at, url).status for at, url in replay.captures} == {200}
    assert {url for _, url in replay.captures} == set(site.page_urls)


def test_the_archive_names_its_writer_and_the_answering_server(tmp_path: Path):
    with running_site(pages=2) as site:
        crawl(site.url, tmp_path, "--log-level", "error")
    for file in tmp_path.rglob("warc/**/*.warc.gz"):
        with file.open("rb") as stream:
            first, *others = [(r.rec_type, r.rec_headers, r.content_stream().read()) for r in ArchiveIterator(stream)]
        assert first[0] == "warcinfo"
        assert b"software: longline/" in first[2]
        assert {headers.get_header("WARC-IP-Address") for _, headers, _ in others} == {"127.0.0.1"}


def answers(replay: Replay) -> bool:
    try:
        return replay.show("2020", "http://nothing.example/").status == 404
    except OSError:
        return False


def assert_sound(files: list[Path]) -> None:
    """Assert that `warcio check` finds no fault."""
    assert files
    assert Checker(SimpleNamespace(inputs=[str(file) for file in files], verbose=False)).process_all() == 0
