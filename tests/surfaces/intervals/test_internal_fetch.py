"""The internal fetch over HTTP, of pages that a fake client answers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longline.ports.http import FetchFailed
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeHttp, moved, response
from tests.surfaces.intervals.stage import Json, Stage, opened

PATH = "/api/internal/v1/fetch"
HEADER = {"X-Internal-Secret": "open sesame"}
PAGE = b"""<html><head><title> A  story </title><meta name=author content=Ann><meta name=description content=About>
<meta property="og:title" content="OG"><meta property="og:image" content="https://a.example/i.png"></head>
<body><nav>menu</nav><article><script>x</script><p>First.</p><p>Second.</p></article><footer>end</footer></body></html>"""


@pytest.fixture
async def http(clock: FakeClock) -> FakeHttp:
    return FakeHttp(clock)


@pytest.fixture
async def inside(records: Records, clock: FakeClock, tmp_path: Path, http: FakeHttp) -> AsyncIterator[Stage]:
    async with opened(records, clock, tmp_path, http=http, internal_secret=HEADER["X-Internal-Secret"]) as stage:
        yield stage


async def ask(stage: Stage, body: Json, status: int = 200) -> Json:
    answer = await stage.client.post(PATH, json=body, headers=HEADER)
    assert answer.status_code == status, answer.text
    found: Json = answer.json()
    return found


async def test_without_a_secret_there_is_no_such_path(stage: Stage):
    assert (await stage.client.post(PATH, json={}, headers=HEADER)).status_code == 404


async def test_requests_without_the_secret_are_refused(inside: Stage):
    for headers in ({}, {"X-Internal-Secret": ""}, {"X-Internal-Secret": "sesame"}):
        answer = await inside.client.post(PATH, json={"url": "https://a.example/"}, headers=headers)
        assert (answer.status_code, answer.json()) == (401, {"error": "invalid internal auth"})


async def test_a_page_is_told_whole(inside: Stage, http: FakeHttp):
    http.on("https://a.example/x", moved("https://a.example/x", "/y"))
    http.on("https://a.example/y", response("https://a.example/y", body=PAGE))
    told = await ask(inside, {"url": "https://a.example/x"})
    assert told.pop("html").encode() == PAGE
    assert told == {
        "url": "https://a.example/x",
        "final_url": "https://a.example/y",
        "status_code": 200,
        "content_type": "text/html; charset=utf-8",
        "title": "A story",
        "body": "First.\nSecond.",
        "author": "Ann",
        "description": "About",
        "og": {"title": "OG", "image": "https://a.example/i.png"},
        "duration_ms": 0,
    }


async def test_text_is_that_of_the_article_else_of_main_else_of_the_body(inside: Stage, http: FakeHttp):
    framed = (
        "<body><nav>menu</nav><header>top</header><main>main <aside>aside</aside><article>story <nav>inner</nav>"
        "<header>above</header><script>x()</script><style>y{}</style> end<footer>below</footer></article></main>"
        "<p>after</p><footer>foot</footer></body>"
    )
    bare = framed.replace("article>", "section>")
    for markup, text in (
        (framed, "story end"),
        (bare, "main aside story end"),
        (bare.replace("main>", "section>"), "main aside story end after"),
    ):
        http.on("https://a.example/", response("https://a.example/", body=markup.encode()))
        told = await ask(inside, {"url": "https://a.example/"})
        assert " ".join(told["body"].split()) == text


async def test_a_page_that_is_no_html_is_not_read(inside: Stage, http: FakeHttp):
    http.on(
        "https://a.example/i", response("https://a.example/i", body=b"PNG", headers=(("Content-Type", "image/png"),))
    )
    told = await ask(inside, {"url": "https://a.example/i", "timeout": 99})
    assert (told["html"], told["title"], told["og"]) == ("", "", None)
    assert http.requests[0].total_seconds == 30, "no more than that"


async def test_an_invalid_request_is_400_and_a_failed_fetch_502(inside: Stage, http: FakeHttp):
    for body in ({}, {"url": 7}, {"url": "a.example"}, {"url": "https://a.example/", "timeout": "long"}):
        await ask(inside, body, 400)
    http.on("https://in.example/", FetchFailed("egress", "10.0.0.1 is inside"))
    assert "may not be fetched" in (await ask(inside, {"url": "https://in.example/"}, 400))["error"]
    http.on("https://no.example/", FetchFailed("refused", "connection refused by 10.0.0.1"))
    assert (await ask(inside, {"url": "https://no.example/"}, 502)) == {"error": "fetch failed: refused"}
    http.on("https://loop.example/", moved("https://loop.example/", "/"))
    assert (await ask(inside, {"url": "https://loop.example/"}, 502)) == {"error": "fetch failed: too_many_redirects"}
