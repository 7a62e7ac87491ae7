"""The frontier over HTTP: submitted, looked up, retried, deleted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import pairwise
from typing import Any

import httpx
import msgspec
import pytest

from longline.engine.frontier.standing_waker import StandingWaker
from longline.engine.loop_supervisor import run_loops
from longline.model.frontier.standing_frontier import NEVER_DUE_MS
from longline.settings import Settings
from longline.surfaces.intervals.priorities import to_internal_priority
from longline.wiring.platform import registered_worker
from longline.wiring.subjects.archive import html_archiving
from longline.wiring.worker import fetch_worker
from tests.drivers.records.world import claim
from tests.surfaces.intervals.platform import Door, open_door
from tests.surfaces.intervals.stage import Stage, seconds
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

EMBEDDED = pytest.mark.parametrize("migrated_url", ["sqlite"], indirect=True)
PATH = "/api/v1/frontier"
GIVEN = {"message": "URL submitted to frontier"}


async def submit(client: httpx.AsyncClient, url: str, **more: Any) -> dict[str, Any]:
    answer = await client.post(PATH, json={"url": url, "source_id": "s1"} | more)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_url_is_given_and_looked_up(door: Door):
    async with door.client() as client:
        given = await submit(client, "HTTP://Example.com/Path/?utm_source=x&b=2&a=1#top", priority=8)
        assert (given["message"], given["queued"]) == ("URL submitted to frontier", True)
        row = (await client.get(f"{PATH}/{given['id']}")).json()
        times = {name: row.pop(name) for name in ("next_fetch_at", "discovered_at", "created_at", "updated_at")}
        assert all(time.endswith("Z") for time in times.values())
        assert row == {
            "id": given["id"],
            "url": "http://example.com/Path/?utm_source=x&b=2&a=1",
            "url_hash": sha256(b"https://example.com/Path?a=1&b=2").hexdigest(),
            "host": "example.com",
            "source_id": "s1",
            "origin": "manual",
            "depth": 0,
            "priority": 8,
            "status": "pending",
            "fetch_count": 0,
            "retry_count": 0,
        }
        answer = await client.post(f"{PATH}/submit", json={"url": "https://b.example/", "source_id": "s2"})
        assert answer.status_code == 201
        listed = (await client.get(PATH)).json()
        assert (listed["total"], [url["priority"] for url in listed["urls"]]) == (2, [8, 5])


async def test_equivalent_urls_are_one_row_that_goes_sooner(door: Door):
    async with door.client() as client:
        first = await submit(client, "http://example.com:80/a/../b/", priority=3)
        again = await submit(client, "https://EXAMPLE.com/b?utm_medium=x", priority=7)
        lower = await submit(client, "https://example.com/b/", priority=2, source_id="other")
        assert again == first | {"queued": False}
        assert lower == again
        row = (await client.get(f"{PATH}/{first['id']}")).json()
        assert (row["priority"], row["url"], row["source_id"]) == (7, "http://example.com/b/", "s1")
        assert (await client.get(PATH)).json()["total"] == 1
        queue = "SELECT COUNT(*) FROM queue"
        assert await door.peek(queue) == 1


async def test_a_list_is_filtered_sorted_and_paged(door: Door):
    async with door.client() as client:
        for number in range(3):
            await submit(client, f"https://a.example/News_{number}", priority=number + 1, origin="feed")
        await submit(client, "https://b.example:8443/x%25y", priority=9, source_id="s2")
        dead = await submit(client, "https://c.example/gone", priority=10)
        await door.finish(dead["id"], "failed", "http_4xx", status=404)

        async def urls(**params: Any) -> list[str]:
            found = (await client.get(PATH, params=params)).json()
            return [url["url"].rpartition("/")[2] for url in found["urls"]]

        assert await urls() == ["gone", "x%25y", "News_2", "News_1", "News_0"]
        assert await urls(sort_by="created_at", limit=2) == ["gone", "x%25y"]
        assert await urls(limit=2, offset=1) == ["x%25y", "News_2"]
        assert await urls(origin="feed") == ["News_2", "News_1", "News_0"]
        assert await urls(source_id="s2") == ["x%25y"]
        assert await urls(host="B.example") == ["x%25y"]
        assert await urls(search="news_1") == ["News_1"]
        assert await urls(search="s_") == ["News_2", "News_1", "News_0"]
        assert await urls(search="%") == ["x%25y"]
        assert await urls(status="dead") == ["gone"]
        assert len(await urls(status="pending")) == 4
        for odd in ({"status": "failed"}, {"status": "nonsense"}, {"origin": "nowhere"}):
            assert await urls(**odd) == []
        assert (await client.get(PATH, params={"limit": 1, "origin": "feed"})).json()["total"] == 3
        stats = (await client.get(f"{PATH}/stats")).json()
        assert stats == {
            "total_pending": 4,
            "total_fetching": 0,
            "total_fetched": 0,
            "total_failed": 0,
            "total_dead": 1,
        }


ENDS = [
    ("failed", "http_4xx", 404, "dead", "not_found"),
    ("failed", "http_4xx", 410, "dead", "gone"),
    ("failed", "http_4xx", 403, "dead", "unexpected http status 403"),
    ("failed", "http_408", 408, "dead", "unexpected http status 408"),
    ("failed", "http_5xx", 503, "dead", "http status 503"),
    ("failed", "too_many_redirects", 302, "dead", "too_many_redirects"),
    ("failed", "parser_error", 200, "dead", "extract_failed"),
    ("skipped", "robots", None, "dead", "robots_blocked"),
    ("skipped", "content_type", 200, "dead", "unsupported_content_type"),
    ("skipped", "redirected", 301, "fetched", None),
    ("completed", "ok", 200, "fetched", None),
    ("failed", "dns", None, "dead", "no such name"),
]


@EMBEDDED
async def test_how_a_url_ended_is_told_in_the_contracts_words(door: Door):
    async with door.client() as client:
        for number, (became, reason, status, shown, error) in enumerate(ENDS):
            url = f"https://h{number}.example/"
            given = await submit(client, url)
            await door.finish(given["id"], became, reason, status=status, error="no such name")
            row = (await client.get(f"{PATH}/{given['id']}")).json()
            assert (row["status"], row.get("last_error")) == (shown, error)
            again = await submit(client, url, priority=9)
            assert again["queued"] is False
            row = (await client.get(f"{PATH}/{given['id']}")).json()
            assert (row["status"], row["priority"]) == (shown, 5), "a URL that has ended is unchanged"


async def test_a_dead_url_is_tried_again_and_no_other(door: Door):
    async with door.client() as client:
        given = await submit(client, "https://a.example/")
        path = f"{PATH}/{given['id']}"
        missing = {"error": "Frontier URL (or not dead) not found"}
        answer = await client.post(f"{path}/retry")
        assert (answer.status_code, answer.json()) == (404, missing)
        await door.finish(given["id"], "failed", "dns", error="no such name")
        dead = (await client.get(path)).json()
        answer = await client.post(f"{path}/retry")
        assert answer.status_code == 200
        row = (await client.get(path)).json()
        assert (row["status"], row["retry_count"], row.get("last_error")) == ("pending", 0, None)
        assert row["created_at"] < dead["updated_at"] <= row["next_fetch_at"] == row["updated_at"], (
            "the retry is due now"
        )
        assert (await client.post(f"{path}/retry")).status_code == 404
        await door.finish(given["id"], "completed", "ok")
        assert (await client.post(f"{path}/retry")).status_code == 404


async def test_a_url_is_taken_out_and_may_be_given_again(door: Door):
    async with door.client() as client:
        given = await submit(client, "https://a.example/", priority=2)
        path = f"{PATH}/{given['id']}"
        answer = await client.delete(path)
        assert (answer.status_code, answer.content) == (204, b"")
        for method in ("GET", "DELETE"):
            answer = await client.request(method, path)
            assert (answer.status_code, answer.json()) == (404, {"error": "Frontier URL not found"})
        assert (await client.get(PATH)).json() == {"urls": [], "total": 0}
        assert await door.peek("SELECT COUNT(*) FROM queue") == 0
        again = await submit(client, "https://a.example/", priority=6)
        assert again["queued"] is True
        assert (await client.get(PATH)).json()["urls"][0]["priority"] == 6
        await door.finish(again["id"], "completed", "ok")
        assert (await client.delete(path)).status_code == 204
        assert (await client.get(f"{PATH}/stats")).json()["total_fetched"] == 0


BAD_BODIES: list[Any] = [
    {},
    {"url": "https://a.example/"},
    {"source_id": "s"},
    {"url": "", "source_id": "s"},
    {"url": "example.com/path", "source_id": "s"},
    {"url": "ftp://a.example/", "source_id": "s"},
    {"url": "https://a.example/", "source_id": " "},
    {"url": "https://a.example/", "source_id": 7},
    {"url": "https://a.example/", "source_id": "s", "origin": "moon"},
    {"url": "https://a.example/", "source_id": "s", "priority": "high"},
    [],
    "x",
]


@EMBEDDED
async def test_a_bad_body_is_refused_and_changes_nothing(door: Door):
    async with door.client() as client:
        for body in BAD_BODIES:
            answer = await client.post(PATH, json=body)
            assert (answer.status_code, list(answer.json())) == (400, ["error"]), body
        assert (await client.get(PATH)).json()["total"] == 0


@EMBEDDED
async def test_priorities_are_held_to_their_scale(door: Door):
    async with door.client() as client:
        for number, (asked, shown) in enumerate([(0, 5), (-3, 5), (1, 1), (10, 10), (11, 10), (10**12, 10)]):
            given = await submit(client, f"https://a.example/{number}", priority=asked)
            assert (await client.get(f"{PATH}/{given['id']}")).json()["priority"] == shown
        assert (await client.post(PATH, content=b"{")).status_code == 400


@EMBEDDED
async def test_null_means_the_default_of_a_field(door: Door):
    async with door.client() as client:
        given = await submit(client, "https://a.example/", origin=None, priority=None)
        row = (await client.get(f"{PATH}/{given['id']}")).json()
        assert (row["origin"], row["priority"]) == ("manual", 5)


@EMBEDDED
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", PATH),
        ("POST", f"{PATH}/submit"),
        ("PATCH", "/api/v1/discovered-domains/a.example/state"),
        ("POST", "/api/v1/discovered-domains/bulk-state"),
        ("POST", "/api/v1/jobs"),
        ("POST", "/api/v1/sources"),
        ("POST", "/api/v1/sources/test-crawl"),
        ("POST", "/api/v1/sources/fetch-metadata"),
    ],
)
async def test_a_missing_body_is_told_in_words(door: Door, method: str, path: str):
    async with door.client() as client:
        answer = await client.request(method, path)
        assert (answer.status_code, answer.json()) == (400, {"error": "Invalid request body: it is empty"})


async def test_strangers_are_kept_out(door: Door):
    async with httpx.AsyncClient(base_url=door.address, verify=False, timeout=60) as stranger:
        for method, path in [
            ("GET", PATH),
            ("GET", f"{PATH}/stats"),
            ("GET", f"{PATH}/x"),
            ("POST", PATH),
            ("POST", f"{PATH}/submit"),
            ("POST", f"{PATH}/x/retry"),
            ("DELETE", f"{PATH}/x"),
        ]:
            assert (await stranger.request(method, path)).status_code == 401
    async with door.client() as client:
        for uid in ("undefined", "x", "019a0000-0000-7000-8000-000000000001"):
            assert (await client.get(f"{PATH}/{uid}")).status_code == 404


SPELLINGS = {
    "HTTP://Example.com/Path": "https://example.com/Path",
    "http://example.com:80/a/../b/": "https://example.com/b",
    "https://example.com/?utm_source=a&keep=yes#x": "https://example.com/?keep=yes",
    "https://example.com/p?z=1&a=2": "https://example.com/p?a=2&z=1",
    "http://[2001:DB8::1]:8080//a//b/./c/": "https://[2001:db8::1]:8080/a/b/c",
    "https://example.com/q?b=2&a=3&b=1&a=&c&gclid=9#f": "https://example.com/q?a=3&a=&b=2&b=1&c=",
    "https://example.com/A%20b;v=1?q=a+b%20c%2Fd": "https://example.com/A%20b;v=1?q=a+b+c%2Fd",
    "http://www.example.com:443/x?fbclid=1": "https://www.example.com/x",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
}


@EMBEDDED
async def test_16_urls_are_told_apart_by_their_one_form(door: Door):
    async with door.client() as client:
        for given, form in SPELLINGS.items():
            row = (await client.get(f"{PATH}/{(await submit(client, given))['id']}")).json()
            assert row["url_hash"] == sha256(form.encode()).hexdigest()
            assert (await submit(client, form))["queued"] is False, "an equivalent URL is the same row"
        for none in (
            "example.com/path",
            "//example.com/",
            "http:example.com/",
            "https:///example.com/",
            "https://?x",
            " ",
        ):
            assert (await client.post(PATH, json={"url": none, "source_id": "s"})).status_code == 400, none
        assert (await client.get(PATH)).json()["total"] == len(SPELLINGS)


@asynccontextmanager
async def fetching(settings: Settings, delay: float = 0.0, workers: int = 1) -> AsyncIterator[Door]:
    """Yield a platform whose workers fetch the frontier's URLs, also from this machine."""
    there = msgspec.structs.replace(settings, egress_allow=("127.0.0.0/8",), delay=delay)
    async with (
        open_door(there) as door,
        registered_worker(door.platform, frozenset({"fetch"})) as owner,
        html_archiving(door.platform) as witness,
    ):
        stop = asyncio.Event()
        loops = {
            f"worker {n}": fetch_worker(door.platform, owner, response_observer=witness).run for n in range(workers)
        }
        running = asyncio.create_task(run_loops(loops, stop))
        try:
            yield door
        finally:
            stop.set()
            await running


@pytest.fixture
async def busy(settings: Settings) -> AsyncIterator[Door]:
    async with fetching(settings) as door:
        yield door


Look = Callable[[dict[str, Any]], bool]


async def until(client: httpx.AsyncClient, uid: str, so: Look) -> dict[str, Any]:
    """Return the row once it meets the condition."""
    async with asyncio.timeout(60):
        while True:
            row: dict[str, Any] = (await client.get(f"{PATH}/{uid}")).json()
            if so(row):
                return row
            await asyncio.sleep(0.05)


def resting(row: dict[str, Any]) -> bool:
    return row["status"] in ("fetched", "dead")


def tried(times: int) -> Look:
    return lambda row: row["status"] != "fetching" and row["retry_count"] == times


async def rests(client: httpx.AsyncClient, url: str, **more: Any) -> dict[str, Any]:
    """Submit a URL, and return its row once it is fetched or dead."""
    return await until(client, (await submit(client, url, **more))["id"], resting)


FAILING = [
    *((status, f"http status {status}") for status in (500, 429)),
    *((status, f"unexpected http status {status}") for status in (403, 425, 204, 206, 302)),
]


@pytest.mark.slow(reason="waits for many reports")
async def test_11_6_a_failure_is_tried_again_after_a_minute_and_after_two_and_then_given_up(busy: Door):
    def now() -> float:
        return busy.platform.clock.now() / 1000

    with running_site(pages=1) as site:
        site.site.extra |= {f"/{status}": Answer(status) for status, _ in FAILING}
        async with busy.client() as client:
            for status, error in FAILING:
                url = f"{site.url}{status}"
                for times, wait in ((1, 60), (2, 120)):
                    before = now()
                    uid = (await submit(client, url))["id"]  # submitted again, a waiting URL is due at once
                    row = await until(client, uid, tried(times))
                    assert (row["status"], row["last_error"]) == ("pending", error)
                    assert before + wait <= seconds(row["next_fetch_at"]) <= now() + wait + 1
                await submit(client, url)
                row = await until(client, uid, resting)
                assert (row["status"], row["retry_count"], row["last_error"]) == ("dead", 3, error)
                assert site.visits()[f"/{status}"] == 3


async def test_11_6_permanent_failures_are_given_up_at_once(busy: Door):
    with running_site(pages=1, robots="User-agent: *\nDisallow: /secret?x\n") as site:
        site.site.extra |= {"/gone": Answer(410), "/image": Answer(content_type="image/png"), "/404": Answer(404)}
        ends = {
            "404": "not_found",
            "gone": "gone",
            "image": "unsupported_content_type",
            "secret?x=1": "robots_blocked",
            "file.PDF?x=1": "binary_url",
            "get/download.php?id=1": "binary_url",
        }
        async with busy.client() as client:
            for path, error in ends.items():
                row = await rests(client, f"{site.url}{path}")
                assert (row["status"], row["last_error"], row["retry_count"]) == ("dead", error, 0)
            assert (await client.get(f"{PATH}/stats")).json()["total_dead"] == len(ends)
        visits = site.visits()
        assert [visits[f"/{path.partition('?')[0]}"] for path in ends] == [1, 1, 1, 0, 0, 0], "once, or not at all"


async def test_11_6_a_fetched_page_shows_its_etag_hash_and_counts(busy: Door):
    with running_site(pages=1) as site:
        site.site.etags = True
        async with busy.client() as client:
            row = await rests(client, site.url)
            assert (row["status"], row["fetch_count"], row["retry_count"]) == ("fetched", 1, 0)
            assert set(row) >= {"etag", "last_fetched_at"}
            assert row["content_hash"] == sha256((await client.get(site.url)).content).hexdigest()
            assert "last_error" not in row
            assert (await submit(client, site.url, priority=9))["queued"] is False
            assert (await client.get(f"{PATH}/{row['id']}")).json() == row, "a fetched URL stays fetched"
        assert site.visits()["/"] == 2, "one request by the fetcher, and one by the test"


async def test_11_6_an_unchanged_page_keeps_its_row_and_its_body(busy: Door):
    with running_site(pages=2) as site:
        site.site.etags = True
        async with busy.client() as client:
            row = await rests(client, site.url)
            made = "SELECT COUNT(*) FROM segments"
            before = await busy.peek(made)
            assert (await client.delete(f"{PATH}/{row['id']}")).status_code == 204
            assert (await submit(client, site.url))["queued"] is True
            again = await until(client, row["id"], resting)
            assert site.requests[-1].headers["if-none-match"] == row["etag"]
            same = ("status", "etag", "content_hash", "fetch_count")
            assert [again[name] for name in same] == [row[name] for name in same]
            assert again["last_fetched_at"] > row["last_fetched_at"]
            assert await busy.peek(made) == before, "no segment is written for an unchanged page"
            site.site.etags = False
            assert (await client.delete(f"{PATH}/{row['id']}")).status_code == 204
            await submit(client, site.url)
            assert (await until(client, row["id"], resting))["content_hash"] == row["content_hash"]
            assert await busy.peek("SELECT COUNT(*) FROM pages WHERE body_of IS NOT NULL") == 0, "it has its body"


async def test_11_5_robots_that_cannot_be_had_forbid_nothing(busy: Door):
    with running_site(pages=1, robots=503) as site:
        async with busy.client() as client:
            assert (await rests(client, site.url))["status"] == "fetched"


async def test_11_6_a_host_that_answers_429_gets_half_as_many_requests(settings: Settings):
    delay = 0.3
    with running_site(pages=2) as site:
        site.site.extra["/full"] = Answer(429, headers=(("Retry-After", "0"),))
        async with fetching(settings, delay) as door, door.client() as client:
            await until(client, (await submit(client, f"{site.url}full"))["id"], tried(1))
            assert await door.peek("SELECT delay_ms FROM hosts") == 2 * delay * 1000
            for url in site.page_urls:
                await rests(client, url)
        full, *others = [visit.time for visit in site.requests if visit.path != "/robots.txt"]
        assert min(b - a for a, b in pairwise([full, *others])) >= 2 * delay


async def test_17_two_requests_to_a_host_keep_their_distance_between_all_workers(settings: Settings):
    delay = 0.4
    with running_site(pages=5) as site:
        async with fetching(settings, delay, workers=16) as door, door.client() as client:
            uids = [(await submit(client, url))["id"] for url in site.page_urls]
            for uid in uids:
                assert (await until(client, uid, resting))["status"] == "fetched"
        times = [visit.time for visit in site.requests]
        assert min(b - a for a, b in pairwise(times)) >= delay


def redirects(site: SiteHandle, hops: int, end: str) -> str:
    """Return the URL at which a chain of that many redirects begins."""
    for hop in range(hops):
        target = end if hop == 0 else f"/{hops}-{hop - 1}"
        site.site.extra[f"/{hops}-{hop}"] = Answer(302, headers=(("Location", target),))
    return f"{site.url}{hops}-{hops - 1}"


async def test_18_a_chain_of_five_redirects_rewrites_the_row_and_six_are_too_many(busy: Door):
    with running_site(pages=3) as site:
        async with busy.client() as client:
            row = await rests(client, redirects(site, 5, "/page/1"))
            page = f"{site.url}page/1"
            assert (row["status"], row["url"]) == ("fetched", page)
            assert row["url_hash"] == sha256(page.replace("http:", "https:").encode()).hexdigest()
            assert (await submit(client, page))["id"] == row["id"], "it is that row now"
            start = redirects(site, 6, "/page/2")
            late = await until(client, (await submit(client, start))["id"], tried(1))
            assert (late["status"], late["url"], late["last_error"]) == ("pending", start, "too_many_redirects")
            assert site.visits()["/page/2"] == 0


async def test_18_a_redirect_onto_a_row_keeps_both(busy: Door):
    with running_site(pages=3) as site:
        async with busy.client() as client:
            owner = await rests(client, f"{site.url}page/1")
            start = redirects(site, 1, "/page/1")
            row = await rests(client, start)
            assert (row["status"], row["url"]) == ("fetched", start)
            assert (await client.get(f"{PATH}/{owner['id']}")).json()["url"] == owner["url"]
            assert (await client.get(PATH)).json()["total"] == 2


async def test_18_a_redirect_to_another_host_is_the_same_row_and_so_is_its_end(busy: Door):
    with running_site(pages=1) as first, running_site(pages=3) as second:
        first.site.extra["/away"] = Answer(301, headers=(("Location", f"{second.url}on"),))
        first.site.extra["/back"] = Answer(301, headers=(("Location", f"{second.url}nowhere"),))
        second.site.extra["/on"] = Answer(301, headers=(("Location", "/page/1"),))
        async with busy.client() as client:
            row = await rests(client, f"{first.url}away")
            assert (row["status"], row["url"]) == ("fetched", f"{second.url}page/1")
            dead = await rests(client, f"{first.url}back")
            assert (dead["status"], dead["url"], dead["last_error"]) == ("dead", f"{first.url}back", "not_found")
            listed = (await client.get(PATH)).json()
            assert {one["id"] for one in listed["urls"]} == {row["id"], dead["id"]}, "no more than were given"
            second.site.extra["/nowhere"] = Answer(body=b"<title>here now</title>")
            assert (await client.post(f"{PATH}/{dead['id']}/retry")).status_code == 200
            back = await until(client, dead["id"], resting)
            assert (back["status"], back["url"]) == ("fetched", f"{second.url}nowhere")
            stats = (await client.get(f"{PATH}/stats")).json()
            assert (stats["total_fetched"], stats["total_dead"], stats["total_pending"]) == (2, 0, 0)
            for url in (f"{second.url}page/1", f"{first.url}away"):
                assert await submit(client, url) == {**GIVEN, "id": row["id"], "queued": False}, "it is that row now"
            assert (await client.delete(f"{PATH}/{row['id']}")).status_code == 204
            assert (await client.get(PATH)).json()["total"] == 1
            assert (await submit(client, f"{first.url}away"))["queued"] is True
            assert (await until(client, row["id"], resting))["url"] == f"{second.url}page/1"
            assert second.visits()["/page/1"] == 2


async def test_19_a_dead_workers_url_is_pending_again_and_not_counted(stage: Stage):
    body = {"url": "https://a.example/", "source_id": "s"}
    path = f"{PATH}/{(await stage.ask('POST', PATH, body, 201))['id']}"
    await claim(stage.platform.records)
    assert (await stage.ask("GET", path))["status"] == "fetching"
    stage.advance(600)
    await stage.platform.lifecycle.reap()
    row = await stage.ask("GET", path)
    assert (row["status"], row["retry_count"]) == ("pending", 0)
    stage.advance(1)
    assert len(await claim(stage.platform.records)) == 1, "another worker may claim it"


async def test_11_a_url_waits_while_the_fetcher_is_off_and_goes_when_it_is_on(settings: Settings):
    """With FETCHER_ENABLED=false a submitted URL is kept until a fetcher runs."""
    with running_site(pages=2) as site:
        async with fetching(msgspec.structs.replace(settings, frontier=False)) as door, door.client() as client:
            uids = [(await submit(client, url))["id"] for url in (*site.page_urls, site.page_urls[0])]
            row = (await client.get(f"{PATH}/{uids[0]}")).json()
            assert (row["status"], row["next_fetch_at"]) == ("pending", row["created_at"])
            await asyncio.sleep(1)  # longer than a worker waits between two claims
            assert not site.requests
            assert (await client.get(f"{PATH}/stats")).json()["total_pending"] == 2
            assert await StandingWaker(door.platform.records.standing).once() == 2
            for uid in uids:
                assert (await until(client, uid, resting))["status"] == "fetched"


async def test_11_4_a_better_priority_counts_while_the_fetcher_is_off(settings: Settings):
    asleep = f"SELECT COUNT(*) FROM queue WHERE due = {NEVER_DUE_MS}"
    async with open_door(msgspec.structs.replace(settings, frontier=False)) as door, door.client() as client:
        first = await submit(client, "https://a.example/1", priority=3)
        await submit(client, "https://a.example/2", priority=6)
        assert await submit(client, "https://a.example/1", priority=8) == first | {"queued": False}
        await submit(client, "https://a.example/1", priority=2)
        listed = (await client.get(PATH)).json()["urls"]
        assert [(one["url"][-1], one["priority"], one["status"]) for one in listed] == [
            ("1", 8, "pending"),
            ("2", 6, "pending"),
        ]
        assert await door.peek(asleep) == 2, "and no host becomes due by that"
        assert (await client.delete(f"{PATH}/{first['id']}")).status_code == 204
        assert (await submit(client, "https://a.example/1", priority=9))["queued"] is True
        assert (await client.get(f"{PATH}/{first['id']}")).json()["priority"] == 9
        assert await door.peek(asleep) == 2
        assert await StandingWaker(door.platform.records.standing).once() == 2
        assert await door.peek("SELECT MIN(priority) FROM queue WHERE due = 0") == to_internal_priority(9)


async def test_a_dead_url_waits_while_the_fetcher_is_off(settings: Settings):
    async with open_door(settings) as door, door.client() as client:
        given = await submit(client, "https://a.example/1")
        await door.finish(given["id"], "failed", "http_4xx", 404)
    async with open_door(msgspec.structs.replace(settings, frontier=False)) as door, door.client() as client:
        assert (await client.post(f"{PATH}/{given['id']}/retry")).status_code == 200
        assert (await client.get(f"{PATH}/{given['id']}")).json()["status"] == "pending"
        assert await door.peek(f"SELECT COUNT(*) FROM queue WHERE due = {NEVER_DUE_MS}") == 1


async def test_a_url_over_the_budget_of_its_source_is_refused(door: Door):
    async with door.client() as client:
        made = await client.post("/api/v1/sources", json={"name": "news", "url": "https://news.example/"})
        source = made.json()["id"]
        assert (await client.put(f"/api/v1/sources/{source}/budget", json={"budget": 1})).status_code == 200
        first = await submit(client, "https://news.example/1", source_id=source)
        for path in (PATH, f"{PATH}/submit"):
            answer = await client.post(path, json={"url": "https://news.example/2", "source_id": source})
            told = {"error": f"the budget of source {source} is used up: it takes in no more URLs"}
            assert (answer.status_code, answer.json()) == (400, told)
        assert (await client.get(PATH)).json()["total"] == 1
        again = await submit(client, "https://news.example/1", source_id=source, priority=9)
        assert again == first | {"queued": False}, "a known URL takes nothing from the budget"
        assert (await client.put(f"/api/v1/sources/{source}/budget", json={"budget": 2})).status_code == 200
        assert (await submit(client, "https://news.example/2", source_id=source))["queued"] is True


@pytest.mark.parametrize("origin", ["manual", "feed", "sitemap", "spider", "discovered"])
async def test_19_urls_given_by_name_are_indexed_in_any_form(settings: Settings, origin: str):
    words = " ".join(f"word{n}" for n in range(80))
    paths = ("p/123", "story.html", "?p=55", "tag/x", "login", "a", "shop/products/7")
    with running_site(pages=1) as site:
        for path in paths:
            site.site.extra[f"/{path}"] = Answer(body=f"<title>T</title><h1>T</h1><p>{words} {path}</p>".encode())
        async with fetching(settings) as door, door.client() as client:
            given = [await submit(client, f"{site.url}{path}", origin=origin) for path in paths]
            for made in given:
                row = await until(client, made["id"], resting)
                assert row["status"] == "fetched", row
            assert await door.peek("SELECT COUNT(*) FROM items WHERE kind = 'article'") == len(paths)


async def test_11_waiting_urls_follow_the_settings_of_the_last_start(settings: Settings):
    """FETCHER_MAX_RETRIES and FETCHER_MAX_REDIRECTS apply to URLs submitted under other values too."""
    with running_site(pages=2) as site:
        site.site.extra["/500"] = Answer(500)
        away = redirects(site, 1, "/page/1")
        async with fetching(settings) as door, door.client() as client:
            row = await until(client, (await submit(client, f"{site.url}500"))["id"], tried(1))
            assert row["status"] == "pending"
        there = msgspec.structs.replace(settings, frontier_attempts=2, frontier_redirects=0)
        async with fetching(there) as door, door.client() as client:
            assert (await submit(client, f"{site.url}500"))["id"] == row["id"]
            assert (await until(client, row["id"], resting))["retry_count"] == 2
            late = await until(client, (await submit(client, away))["id"], tried(1))
            assert late["last_error"] == "too_many_redirects"
