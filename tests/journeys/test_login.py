"""`longline crawl` with headers, cookies and logins: the hosts that get them, a kill, and their secrecy."""

import gzip
import os
import re
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.journeys.archive import ask, records
from tests.journeys.place import wait_until
from tests.journeys.test_scope import page
from tests.servers import program
from tests.web import SiteHandle, running_site
from tests.web.login import PASSWORD, Login
from tests.web.wire import Answer

CANARIES = ("header-canary-7", "cookie-canary-8", "file-canary-9")
MEMBERS = {"/": page(*(f"/m/{n}" for n in range(20))), **{f"/m/{n}": page() for n in range(20)}}
LOUD = {"LONGLINE_ARCHIVE_REQUESTS": "true", "LONGLINE_LOG_LEVEL": "debug"}


def crawl(*words: str, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return program.run("crawl", *words, "--out", str(out), env={**os.environ, **LOUD, **environment})


def assert_kept_secret(folder: Path, told: str, *canaries: str) -> None:
    """Assert that no file, table or line of output has one of the values; archives and bodies are searched too."""
    seen = [("output", told.encode())]
    for file in folder.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            seen.append((file.name, gzip.decompress(data) if file.name.endswith(".gz") else data))
    with sqlite3.connect(folder / "longline.db") as database:
        seen.append(("dump", "\n".join(database.iterdump()).encode()))
    database.close()
    assert len(seen) >= 4
    found = [(name, canary) for name, data in seen for canary in canaries if canary.encode() in data]
    assert not found


def sent(site: SiteHandle, path: str) -> dict[str, str]:
    return next(visit.headers for visit in site.requests if visit.path == path)


def test_headers_and_cookies_go_to_their_sites_only_and_stay_secret(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site, running_site(pages=0) as other:
        port, there = site.url.rpartition(":")[2].rstrip("/"), other.url.replace("127.0.0.1", "localhost")
        site.site.extra |= {
            "/": page("/a", "/away", there, other.url),
            "/a": page(),
            "/away": Answer(302, headers=(("Location", f"{there}moved"),)),
        }
        other.site.extra |= {"/": page(), "/moved": page()}
        jar = tmp_path / "cookies.txt"
        jar.write_text(
            "# Netscape HTTP Cookie File\n"
            f"127.0.0.1\tFALSE\t/a\tFALSE\t0\tjar\t{CANARIES[2]}\n"
            f"127.0.0.1\tFALSE\t/\tFALSE\t1\told\t{CANARIES[2]}\n"
            f"elsewhere.example\tFALSE\t/\tFALSE\t0\tother\t{CANARIES[2]}\n"
        )
        options = ("--header", f"X-Api-Key: {CANARIES[0]}", "--cookie", f"id={CANARIES[1]}", "--cookies", str(jar))
        inside = ("--offsite", "--egress-allow", "127.0.0.0/8,::1/128", "--user-agent", "mine/2.0")
        done = crawl(site.url, *options, *inside, out=out)
        assert done.returncode == 0, done.stderr
        assert port
        assert (sent(site, "/")["x-api-key"], sent(site, "/")["cookie"]) == (CANARIES[0], f"id={CANARIES[1]}")
        assert sent(site, "/a")["cookie"] == f"jar={CANARIES[2]}; id={CANARIES[1]}"
        assert {visit.headers["user-agent"] for visit in site.requests} == {"mine/2.0"}
        assert "/moved" in other.visits()
        assert not [visit for visit in other.requests if "x-api-key" in visit.headers]
        named = [visit for visit in other.requests if visit.headers["host"].startswith("localhost")]
        assert named
        assert not [visit for visit in named if "cookie" in visit.headers]
    requests = b"".join(gzip.decompress(file.read_bytes()) for file in out.rglob("*.warc.gz"))
    assert re.search(rb"(?i)x-api-key: \(hidden\)", requests)
    assert re.search(rb"(?i)cookie: \(hidden\)", requests)
    assert_kept_secret(out, done.stdout + done.stderr, *CANARIES)


def test_options_and_secrets_survive_a_kill(tmp_path: Path) -> None:
    out = tmp_path / "out"
    robots = "User-agent: mine\nDisallow: /p/1\n\nUser-agent: *\nDisallow:\n"
    with running_site(pages=0, robots=robots) as site:
        site.site.extra |= {"/": page(*(f"/p/{n}" for n in range(9))), **{f"/p/{n}": page("/q/x") for n in range(9)}}
        options = ["--header", f"X-Api-Key: {CANARIES[0]}", "--user-agent", "mine/1", "--exclude", "/q"]
        site.hold(after=4)
        words = ["crawl", site.url, "--out", str(out), *options]
        process = program.Program(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(site.requests) > 4 or process.poll() is not None, "4 visits")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        site.let_go()
        before = len(site.requests)
        done = crawl(site.url, out=out)
        assert done.returncode == 0, done.stderr
        assert {(v.headers.get("x-api-key"), v.headers["user-agent"]) for v in site.requests[before:]} == {
            (CANARIES[0], "mine/1")
        }
        assert not {"/p/1", "/q/x"} & set(site.visits())
    assert_kept_secret(out, done.stdout + done.stderr, CANARIES[0])


FORM = """
import os
from longline.plugins import LoginFailed, session

@session(match="SITE*", redirects="*/login")
async def log_in(site):
    form = await site.get("/login")
    answer = await site.submit(form, {"user": "anna", "password": os.environ["PASSWORD"]})
    if answer.css(".error"):
        raise LoginFailed(answer.text(".error") + " " + os.environ["PASSWORD"])
"""

TOKEN = """
import json, os
from longline.plugins import session

@session(match="SITE*")
async def log_in(site):
    answer = await site.post("/token", json={"user": "anna", "password": os.environ["PASSWORD"]})
    site.headers["Authorization"] = "Bearer " + json.loads(answer.body)["token"]
"""


def plugin(tmp_path: Path, code: str, site: SiteHandle) -> Path:
    file = tmp_path / "members.py"
    file.write_text(code.replace("SITE", site.url))
    return file


@pytest.mark.parametrize("kind", ["form", "token"])
def test_a_login_fills_the_cookies_and_is_made_again_when_it_has_expired(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site:
        login = Login(MEMBERS, pages_per_session=12)
        (login.add_form if kind == "form" else login.add_token)(site)
        file = plugin(tmp_path, FORM if kind == "form" else TOKEN, site)
        done = crawl(site.url, "--parsers", str(file), out=out, PASSWORD=PASSWORD)
        assert done.returncode == 0, done.stderr
        kept = records(out)
        assert {url.removeprefix(site.url.rstrip("/")) for url in kept} == set(MEMBERS)
        # 21 pages, the page that a form leads to after each login, and 12 of them in a session.
        assert 2 <= login.logins <= 3, login.logins
    assert ask(out, "SELECT COUNT(*) FROM sessions") == [(0,)], "the run has ended"
    assert_kept_secret(out, done.stdout + done.stderr, PASSWORD, *login.issued)


def test_a_login_that_fails_fails_the_pages_and_is_not_made_without_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site:
        login = Login(MEMBERS)
        login.add_form(site)
        file = plugin(tmp_path, FORM, site)
        wrong = "wrong-canary-3"
        done = crawl(
            site.url, "--parsers", str(file), out=out, PASSWORD=wrong, LONGLINE_MAX_RETRIES="1", LONGLINE_DELAY="0s"
        )
        assert done.returncode == 1
        assert re.search(r"log_in: \S*members.py:10: wrong password \(hidden\)", done.stdout), done.stdout
        assert site.visits()["/login"] <= 4
    assert_kept_secret(out, done.stdout + done.stderr, wrong)


def test_pages_that_stay_forbidden_do_not_make_logins_without_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site:
        login = Login({**MEMBERS, "/": page(*(f"/m/{n}" for n in range(20)), *(f"/no/{n}" for n in range(20)))})
        login.add_token(site)
        site.site.extra |= {f"/no/{n}": Answer(401, b"never") for n in range(20)}
        done = crawl(site.url, "--parsers", str(plugin(tmp_path, TOKEN, site)), out=out, PASSWORD=PASSWORD)
        assert login.logins == 4, "the first login, and three that did not help"
    assert re.search(r"failed\W+http_4xx\W+20", done.stdout), done.stdout
    assert re.search(r"completed\W+ok\W+21", done.stdout), done.stdout


def test_a_killed_crawl_goes_on_with_its_login(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running_site(pages=0) as site:
        login = Login(MEMBERS)
        login.add_token(site)
        file = plugin(tmp_path, TOKEN, site)
        site.hold(after=9)
        words = ["crawl", site.url, "--out", str(out), "--parsers", str(file)]
        environment = {**os.environ, "PASSWORD": PASSWORD}
        process = program.Program(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(site.requests) > 9 or process.poll() is not None, "9 visits")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        site.let_go()
        # The password is wrong from here on, and is not needed.
        done = crawl(site.url, "--parsers", str(file), out=out, PASSWORD="other")
        assert done.returncode == 0, done.stderr
        assert login.logins == 1
        assert len(records(out)) == len(MEMBERS)
