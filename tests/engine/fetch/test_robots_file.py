"""The robots.txt of a site, outside of any run."""

import gzip

import pytest

from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots_file import RobotsFiles
from longline.engine.proxies.rotation import ProxyRotation
from longline.model.fetch.robots import MAX_BYTES, MAX_REDIRECTS
from longline.ports.http import FetchFailed
from longline.testing.clock import FakeClock
from tests.engine.fakes import AGENT, FakeHttp, FakeWays, moved, response
from tests.plans import crawl_plan

URL = "https://site.example/robots.txt"
PLAN = crawl_plan(())


@pytest.fixture
def http(clock: FakeClock) -> FakeHttp:
    return FakeHttp(clock)


@pytest.fixture
def files(http: FakeHttp, clock: FakeClock) -> RobotsFiles:
    proxies = ProxyRotation(FakeWays(), clock)
    return RobotsFiles(Sender(http, clock, FetchSettings(AGENT), proxies), proxies)


async def test_the_text_is_decoded_and_parsed(files: RobotsFiles, http: FakeHttp):
    http.on(URL, response(URL, 200, gzip.compress(b"User-agent: *\nDisallow: /x\n"), (("Content-Encoding", "gzip"),)))
    found = await files.fetch(URL, PLAN)
    assert (found.status, found.text) == (200, "User-agent: *\nDisallow: /x\n")
    assert not found.robots.allows(AGENT, "https://site.example/x")
    assert (http.requests[0].max_bytes, http.requests[0].cut) == (MAX_BYTES + 1, True)


async def test_a_redirect_loop_ends_without_rules(files: RobotsFiles, http: FakeHttp):
    http.on(URL, moved(URL, URL))
    found = await files.fetch(URL, PLAN)
    assert (found.status, found.text, len(http.urls)) == (302, "", MAX_REDIRECTS + 1)
    assert found.robots.allows(AGENT, "https://site.example/x")


@pytest.mark.parametrize(("status", "kind"), [(429, "http_429"), (500, "http_5xx"), (503, "http_5xx")])
async def test_a_server_error_is_no_empty_robots_txt(files: RobotsFiles, http: FakeHttp, status: int, kind: str):
    http.on(URL, response(URL, status))
    with pytest.raises(FetchFailed) as failed:
        await files.fetch(URL, PLAN)
    assert failed.value.kind == kind
