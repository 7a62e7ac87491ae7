"""Discovered links and domains over HTTP."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from longline.model.discovery.link import LinkDetails, NewLink
from longline.model.runs.run import NewRun, RunKind
from longline.model.sources.source import NewSource
from tests.surfaces.intervals.platform import Door

EMBEDDED = pytest.mark.parametrize("migrated_url", ["sqlite"], indirect=True)
LINKS, DOMAINS = "/api/v1/discovered-links", "/api/v1/discovered-domains"


async def found(door: Door, *urls: str, source: str = "one") -> None:
    """Record these links as discovered in a crawl of a source."""
    row = await door.platform.records.sources.add(NewSource(source, f"https://{source}.example/"))
    run = await door.platform.records.runs.add(NewRun(f"run of {source} {urls}", RunKind.CRAWL, "{}", source_id=row.id))
    links = [NewLink(run.id, url, f"https://{source}.example/page", 1) for url in urls]
    await door.platform.records.links.save(links)


async def test_links_are_listed_shown_and_forgotten(door: Door):
    await found(door, "https://www.x.example/a", "https://y.example/b")
    await found(door, "https://x.example/c", source="two")
    async with door.client() as client:
        listed = (await client.get(LINKS, params={"search": "x.example/a"})).json()
        [link] = listed["links"]
        assert listed["total"] == 1
        assert (await client.get(f"{LINKS}/{link['id']}")).json() == link
        times = [link.pop(name) for name in ("discovered_at", "queued_at", "created_at", "updated_at")]
        assert all(time.endswith("Z") for time in times)
        assert link.pop("id")
        assert UUID(link.pop("source_id")).version == 7
        assert link == {
            "source_name": "one",
            "url": "https://www.x.example/a",
            "parent_url": "https://one.example/page",
            "depth": 2,
            "domain": "x.example",
            "status": "pending",
            "priority": 5,
        }
        page = (await client.get(LINKS, params={"source_name": "one", "limit": 1, "sort": "discovered_at"})).json()
        assert (len(page["links"]), page["total"]) == (1, 2)
        assert (await client.get(LINKS, params={"status": "nonsense"})).json() == {"links": [], "total": 0}
        path = f"{LINKS}/{page['links'][0]['id']}"
        answer = await client.delete(path)
        assert (answer.status_code, answer.json()) == (200, {"message": "Discovered link deleted successfully"})
        for method in ("GET", "DELETE"):
            answer = await client.request(method, path)
            assert (answer.status_code, answer.json()) == (404, {"error": "Discovered link not found"})


async def test_12_1_lists_are_filtered_and_sorted(door: Door):
    await found(door, "https://x.example/Alpha", "https://y.example/beta")
    await found(door, "https://x.example/gamma", source="two")
    await door.platform.records.links.update_from_pages([LinkDetails("https://y.example/beta", 200, "text/html")])
    async with door.client() as client:

        async def urls(**params: Any) -> list[str]:
            listed = (await client.get(LINKS, params=params)).json()
            assert len(listed["links"]) == min(listed["total"], int(params.get("limit", 50)))
            return [link["url"].rpartition("/")[2] for link in listed["links"]]

        [beta] = (await client.get(LINKS, params={"search": "BETA"})).json()["links"]
        assert (beta["http_status"], beta["content_type"]) == (200, "text/html")
        assert set(await urls(source_id=beta["source_id"])) == {"Alpha", "beta"}
        assert await urls(source_id="nobody") == []
        assert await urls(source_name="two") == ["gamma"]
        for sort in ("queued_at", "discovered_at"):
            assert await urls(sort=sort, limit=1) == ["gamma"]
        assert await urls(sort="priority", order="asc") == list(reversed(await urls()))
        assert await urls(status="processing") == []
        shown = (await client.get(f"{DOMAINS}/y.example")).json()
        assert (shown["ok_ratio"], shown["html_ratio"], shown["quality_score"]) == (1.0, 1.0, 83)


@pytest.mark.parametrize("body", [None, {}, {"source_name": "other", "schedule_enabled": True, "schedule_time": "* *"}])
async def test_a_link_becomes_a_job(door: Door, body: dict[str, Any] | None):
    await found(door, "https://x.example/a")
    async with door.client() as client:
        [link] = (await client.get(LINKS)).json()["links"]
        more: dict[str, Any] = {"json": body} if body is not None else {}
        answer = await client.post(f"{LINKS}/{link['id']}/create-job", **more)
        assert answer.status_code == 201, answer.text
        job = answer.json()
        assert (job["url"], job["status"], job["source_id"]) == (link["url"], "pending", link["source_id"])
        said = body or {}
        assert (job["source_name"], job.get("schedule_time")) == (
            said.get("source_name", "one"),
            said.get("schedule_time"),
        )
        assert (job["schedule_enabled"], "interval_minutes" in job) == (False, False), "it runs once"
        assert (await client.get(f"{LINKS}/{link['id']}")).json()["status"] == "processing"
        assert (await client.get(LINKS, params={"status": "pending"})).json()["total"] == 0
        assert (await client.get(LINKS, params={"status": "processing"})).json()["total"] == 1


async def test_domains_are_listed_shown_and_looked_into(door: Door):
    await found(door, "https://x.example/news/1", "https://www.x.example/news/2", "https://x.example/")
    await found(door, "https://x.example/news/1", "https://two.example/", source="two")
    async with door.client() as client:
        listed = (await client.get(DOMAINS)).json()
        assert (listed["total"], [row["domain"] for row in listed["domains"]]) == (2, ["x.example", "two.example"])
        row = listed["domains"][0]
        assert (await client.get(f"{DOMAINS}/x.example")).json() == row
        assert row.pop("first_seen") <= row.pop("last_seen")
        assert row == {
            "domain": "x.example",
            "status": "active",
            "link_count": 4,
            "source_count": 2,
            "avg_depth": 2.0,
            "ok_ratio": 0.0,
            "html_ratio": 0.0,
            "quality_score": 27,
            "referring_sources": ["one", "two"],
            "is_existing_source": False,
        }
        assert listed["domains"][1]["is_existing_source"] is True
        answer = await client.get(f"{DOMAINS}/x")
        assert (answer.status_code, answer.json()) == (404, {"error": "Discovered domain not found"})
        inside = (await client.get(f"{DOMAINS}/x.example/links", params={"limit": 2})).json()
        assert (inside["total"], len(inside["links"])) == (4, 2)
        assert inside["path_clusters"] == [{"pattern": "/news/*", "count": 3}, {"pattern": "/", "count": 1}]
        assert {link["path"] for link in inside["links"]} <= {"/", "/news/1", "/news/2"}
        names = [
            d["domain"]
            for d in (await client.get(DOMAINS, params={"sort": "domain", "order": "asc"})).json()["domains"]
        ]
        assert names == ["two.example", "x.example"]


async def test_domains_are_judged(door: Door):
    await found(door, "https://x.example/", "https://y.example/", "https://z.example/")
    async with door.client() as client:
        answer = await client.patch(f"{DOMAINS}/x.example/state", json={"status": "reviewing", "notes": "hm"})
        assert answer.status_code == 200
        shown = (await client.get(f"{DOMAINS}/x.example")).json()
        assert (shown["status"], shown["notes"]) == ("reviewing", "hm")
        answer = await client.post(
            f"{DOMAINS}/bulk-state", json={"domains": ["x.example", "y.example"], "status": "ignored"}
        )
        assert (answer.status_code, answer.json()["updated"]) == (200, 2)
        ignored = (await client.get(DOMAINS, params={"status": "ignored"})).json()
        assert ignored["total"] == 2
        assert (await client.get(DOMAINS, params={"search": "Z.EX"})).json()["total"] == 1


BAD: list[tuple[str, str, dict[str, Any]]] = [
    ("PATCH", f"{DOMAINS}/x.example/state", {}),
    ("PATCH", f"{DOMAINS}/x.example/state", {"status": "lovely"}),
    ("POST", f"{DOMAINS}/bulk-state", {"domains": [], "status": "ignored"}),
    ("POST", f"{DOMAINS}/bulk-state", {"domains": ["x"] * 101, "status": "ignored"}),
    ("POST", f"{DOMAINS}/bulk-state", {"domains": ["x"], "status": "?"}),
    ("POST", f"{DOMAINS}/bulk-state", {"domains": "x", "status": "ignored"}),
]


@EMBEDDED
async def test_bad_bodies_are_refused(door: Door):
    async with door.client() as client:
        for method, path, body in BAD:
            answer = await client.request(method, path, json=body)
            assert (answer.status_code, list(answer.json())) == (400, ["error"]), body


@EMBEDDED
async def test_strangers_are_kept_out(door: Door):
    async with httpx.AsyncClient(base_url=door.address, verify=False, timeout=60) as stranger:
        for method, path in [
            ("GET", LINKS),
            ("GET", f"{LINKS}/x"),
            ("DELETE", f"{LINKS}/x"),
            ("POST", f"{LINKS}/x/create-job"),
            ("GET", DOMAINS),
            ("GET", f"{DOMAINS}/x"),
            ("GET", f"{DOMAINS}/x/links"),
            ("PATCH", f"{DOMAINS}/x/state"),
            ("POST", f"{DOMAINS}/bulk-state"),
        ]:
            assert (await stranger.request(method, path)).status_code == 401
