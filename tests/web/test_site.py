import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web import running_site
from tests.web.asking import get
from tests.web.pages import page, path_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site():
    with running_site(pages=20) as handle:
        yield handle


def test_every_page_is_there_and_no_more(site):
    for number, url in enumerate(site.page_urls):
        reply = get(url)
        assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert reply.body == page(number, 20, site.url.rstrip("/"))

    assert len(set(site.page_urls)) == 20
    assert site.page_urls[0] == site.url
    assert get(site.url + "page/20").status == 404
    assert get(site.url + "nothing").status == 404


def test_page_zero_has_only_one_address(site):
    reply = get(site.url + "page/0")

    assert (reply.status, reply.headers["location"]) == (302, "/")


def test_head_has_the_length_but_not_the_body(site):
    reply = get(site.url + "page/1", "HEAD")

    assert reply.body == b""
    assert int(reply.headers["content-length"]) == len(get(site.url + "page/1").body)


def test_robots_forbid_the_private_pages(site):
    reply = get(site.url + "robots.txt")

    assert reply.headers["content-type"] == "text/plain"
    assert reply.body == b"User-agent: *\nDisallow: /private/\n"
    assert get(site.url + "private/3").status == 200


@pytest.mark.parametrize(
    ("robots", "status", "body"), [("User-agent: *\nCrawl-delay: 2\n", 200, None), (503, 503, b"")]
)
def test_robots_can_be_chosen(robots, status, body):
    with running_site(pages=1, robots=robots) as handle:
        reply = get(handle.url + "robots.txt")

    assert reply.status == status
    assert reply.body == (robots.encode() if body is None else body)


def test_every_request_is_written_down():
    with running_site(pages=3) as handle:
        get(handle.url)
        get(handle.url + "page/1?a=b", "HEAD")
        get(handle.url + "page/1?a=b")
        told = json.loads(get(handle.url + "__log").body)

        assert handle.visits() == {"/": 1, "/page/1?a=b": 2}
        assert [(visit["method"], visit["path"]) for visit in told] == [
            ("GET", "/"),
            ("HEAD", "/page/1?a=b"),
            ("GET", "/page/1?a=b"),
        ]
        assert told[0]["headers"]["host"] == handle.url.split("/")[2]
        assert told[0]["port"] != told[1]["port"]
        assert told[0]["time"] < told[2]["time"]


def test_pages_can_be_late():
    with running_site(pages=2, delay=0.2) as handle, pytest.raises(TimeoutError):
        get(handle.url, timeout=0.05)


def test_the_site_runs_as_a_process():
    command = [sys.executable, "-m", "tests.web", "--pages", "2"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert [get(url + path_of(number)[1:]).status for number in range(3)] == [200, 200, 404]
        assert [visit["path"] for visit in json.loads(get(url + "__log").body)] == ["/", "/page/1", "/page/2"]
        process.send_signal(signal.SIGTERM)

    assert process.returncode == 0
