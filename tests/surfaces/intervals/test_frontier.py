"""The frontier over HTTP: given, looked up, tried again, taken out."""

from hashlib import sha256
from typing import Any

import httpx
import pytest

from tests.surfaces.intervals.house import Door

EMBEDDED = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
PATH = "/api/v1/frontier"


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
            assert (row["status"], row["priority"]) == (shown, 5), "what has ended is left alone"


async def test_a_dead_url_is_tried_again_and_no_other(door: Door):
    async with door.client() as client:
        given = await submit(client, "https://a.example/")
        path = f"{PATH}/{given['id']}"
        missing = {"error": "Frontier URL (or not dead) not found"}
        answer = await client.post(f"{path}/retry")
        assert (answer.status_code, answer.json()) == (404, missing)
        await door.finish(given["id"], "failed", "dns", error="no such name")
        answer = await client.post(f"{path}/retry")
        assert answer.status_code == 200
        row = (await client.get(path)).json()
        assert (row["status"], row["retry_count"], row.get("last_error")) == ("pending", 0, None)
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
async def test_strangers_are_kept_out(door: Door):
    async with httpx.AsyncClient(base_url=door.address, timeout=60) as stranger:
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
