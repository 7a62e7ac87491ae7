"""One site, one command: whole, killed on the way, stopped and resumed."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.archive import ask, records
from tests.journeys.place import Place, wait_until
from tests.servers import program
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

PAGES = 500


def command(site: SiteHandle, out: Path, *more: str) -> list[str]:
    return ["crawl", site.url, "--depth", "10", "--out", str(out), *more]


def run(site: SiteHandle, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return program.run(*command(site, out, *more))


def start(site: SiteHandle, out: Path, visits: int) -> subprocess.Popen[str]:
    """Start a crawl and wait until the site holds it up at this page: it cannot end before it is stopped."""
    site.hold(after=visits)
    process = program.Program(command(site, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(site.requests) > visits or process.poll() is not None, f"{visits} visits")
    assert process.poll() is None, "the crawl ended before it was to be stopped"
    return process


def stop(process: subprocess.Popen[str], how: signal.Signals, site: SiteHandle) -> tuple[str, str]:
    """Stop a crawl that was held up, answer its open requests, and return its output."""
    process.send_signal(how)
    site.let_go()
    return process.communicate(timeout=60)


def assert_whole(site: SiteHandle, out: Path) -> None:
    """Assert that every page is kept once, rows and archive agree, and no row is held or left over."""
    kept = records(out)
    assert set(kept) == set(site.page_urls)
    assert set(kept.values()) == {1}
    assert ask(out, "SELECT COUNT(*), COUNT(DISTINCT url) FROM pages") == [(PAGES, PAGES)]
    assert ask(out, "SELECT SUM(records) FROM segments WHERE state = 'stored'") == [(PAGES,)]
    assert ask(out, "SELECT COUNT(*) FROM segments WHERE state = 'writing'") == [(0,)]
    assert ask(out, "SELECT COUNT(*) FROM line WHERE owner IS NOT NULL") == [(0,)]
    assert ask(out, "SELECT COUNT(*) FROM queue") == [(0,)]
    assert ask(out, "SELECT state, open, completed, skipped FROM runs_now") == [("completed", 0, PAGES, 5)]
    assert ask(out, "SELECT COUNT(*) FROM workers") == [(0,)]
    Place(out).assert_sums_reconcile()


def test_fetches_every_page_once(tmp_path: Path) -> None:
    with running_site(pages=PAGES) as site:
        done = run(site, tmp_path / "out")
        assert done.returncode == 0, done.stderr
        assert_whole(site, tmp_path / "out")
        visits = site.visits()
        assert visits.pop("/robots.txt") == 1
        assert set(visits.values()) == {1}
        assert len(visits) == PAGES
    assert re.search(r"completed\W+ok\W+500", done.stdout)
    assert re.search(r"skipped\W+robots\W+5\b", done.stdout)
    assert re.search(r"admitted\W+the sum of these\W+505", done.stdout)


def test_a_crawl_killed_three_times_loses_no_page_and_keeps_none_twice(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=PAGES) as site:
        for visits in (60, 180, 320):
            process = start(site, out, visits)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert ask(out, "SELECT state FROM runs") == [("running",)]
            Place(out).assert_sums_reconcile()
        site.let_go()
        done = run(site, out)
        assert done.returncode == 0, done.stderr
        assert "resuming" in done.stdout
        assert_whole(site, out)
    segments = [str(file) for file in out.rglob("*.warc.gz")]
    checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", *segments], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_crawl_ends_cleanly_and_is_resumed(tmp_path: Path, how: signal.Signals) -> None:
    out = tmp_path / "out"
    with running_site(pages=PAGES) as site:
        process = start(site, out, visits=100)
        stdout, stderr = stop(process, how, site)
        assert process.returncode == 130, stderr
        assert stderr == ""
        assert "the same command resumes the crawl" in stdout
        # No lease is held, so the next crawl need not wait for one to lapse.
        assert ask(out, "SELECT COUNT(*) FROM line WHERE owner IS NOT NULL") == [(0,)]
        assert ask(out, "SELECT owner, lease_until FROM runs") == [(None, None)]
        assert ask(out, "SELECT COUNT(*) FROM workers") == [(0,)]
        done = run(site, out)
        assert done.returncode == 0, done.stderr
        assert_whole(site, out)
        # Pages fetched before the stop were reported before the end: no page was requested twice.
        visits = site.visits()
        visits.pop("/robots.txt")
        assert set(visits.values()) == {1}


def test_a_finished_crawl_is_left_alone_unless_asked(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=20) as site:
        run(site, out)
        before = sum(site.visits().values())
        again = run(site, out)
        assert again.returncode == 0
        assert "has already ended" in again.stdout
        assert sum(site.visits().values()) == before
        anew = run(site, out, "--again")
        assert anew.returncode == 0
        assert ask(out, "SELECT completed FROM runs_now ORDER BY id") == [(20,), (20,)]


def test_limit_and_depth_bound_a_crawl(tmp_path: Path) -> None:
    with running_site(pages=200) as site:
        limited = run(site, tmp_path / "limited", "--limit", "30")
        assert limited.returncode == 0
        assert ask(tmp_path / "limited", "SELECT admitted, completed + skipped FROM runs_now") == [(30, 30)]
        shallow = program.run("crawl", site.url, "--depth", "1", "--out", str(tmp_path / "one"))
        assert shallow.returncode == 0, shallow.stderr
        assert ask(tmp_path / "one", "SELECT MAX(depth) FROM tasks") == [(1,)]
        assert ask(tmp_path / "one", "SELECT count FROM fates WHERE fate = 'refused' AND reason = 'depth'")[0] > (0,)


def test_a_second_process_in_the_same_folder_is_told_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=PAGES) as site:
        first = start(site, out, visits=20)
        second = run(site, out)
        assert second.returncode == 1
        told = rf"error: another crawl runs in this folder \(pid {first.pid} on \S+\); wait for .*\n"
        assert re.fullmatch(told, second.stderr)
        stop(first, signal.SIGINT, site)


def test_an_own_parser_decides_the_links_to_follow(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from longline.plugins import Item, Link, Page, parser\n"
        "@parser('mine', match='http://127.0.0.1:*')\n"
        "async def mine(page: Page):\n"
        "    yield Item('thing', title='Mine: ' + page.text('title'), body=page.article())\n"
        "    for url in page.links('li:first-child a'):\n"
        "        yield Link(url)\n"
    )
    with running_site(pages=40) as site:
        done = run(site, tmp_path / "out", "--parsers", str(mine))
        assert done.returncode == 0, done.stderr
        titles = ask(tmp_path / "out", "SELECT title FROM pages ORDER BY title")
        assert titles[:2] == [("Mine: Page 0",), ("Mine: Page 1",)]
        assert 1 < len(titles) < 40
        refused = run(site, tmp_path / "out", "--parser", "nobody")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "there is no parser 'nobody'; loaded are" in refused.stderr
        assert run(site, tmp_path / "new", "--parser", "nobody").returncode == 2
        assert not (tmp_path / "new").exists()


def test_spellings_of_one_url_are_fetched_once_and_sent_as_found(tmp_path: Path) -> None:
    with running_site(pages=1) as site:
        links = "".join(f"<a href={path}>x</a>" for path in ("/%7Eu", "/~u", "/%e4", "/%E4", "/a%2fb"))
        site.site.extra |= {"/": links.encode(), **dict.fromkeys(("/%7Eu", "/~u", "/%e4", "/%E4"), links.encode())}
        done = run(site, tmp_path / "out")
        assert done.returncode == 0, done.stderr
        visits = site.visits()
    assert sorted(visits) == ["/", "/%7Eu", "/%e4", "/a%2fb", "/robots.txt"]
    assert set(visits.values()) == {1}


def test_a_site_that_answers_429_for_its_rules_is_asked_again_and_not_crawled_meanwhile(tmp_path: Path) -> None:
    later = Answer(429, headers=(("Retry-After", "1"),), content_type="text/plain")
    with running_site(pages=3) as site:
        site.site.extra["/robots.txt"] = later
        process = program.Program(command(site, tmp_path / "out"), stdout=subprocess.PIPE, text=True)
        wait_until(lambda: len(site.requests) > 1 or process.poll() is not None, "a second request for the rules")
        site.site.extra["/robots.txt"] = Answer(body=b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")
        process.communicate(timeout=60)
        asked = [visit.path for visit in site.requests]
    assert process.returncode == 0
    first = asked.index("/")
    assert set(asked[:first]) == {"/robots.txt"}
    assert first >= 2, "no page was requested before robots.txt was read"
    assert ask(tmp_path / "out", "SELECT state, completed FROM runs_now") == [("completed", 3)]
