"""Documents of pages, from a job or a URL submitted over HTTP to the index of their source."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from longline.engine.loop_supervisor import chore, run_loops
from longline.settings import Settings
from longline.wiring.platform import registered_worker
from longline.wiring.subjects.schedules import scheduler_loop
from longline.wiring.worker import fetch_worker
from tests.drivers.search.cluster import Cluster, running
from tests.surfaces.intervals.platform import Door, open_door
from tests.surfaces.intervals.test_frontier import rests
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

WORDS = " ".join(f"word{n}" for n in range(60))


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with running(Cluster()) as cluster:
        yield cluster


@asynccontextmanager
async def at_work(settings: Settings) -> AsyncIterator[Door]:
    """Yield a platform in which jobs run, pages are fetched and documents indexed."""
    async with open_door(settings) as door, registered_worker(door.platform, frozenset({"fetch", "upkeep"})) as owner:
        stop, platform = asyncio.Event(), door.platform
        loops = {"worker": fetch_worker(platform, owner).run, "index": chore(platform.indexer.once, 0.05)}
        working = asyncio.create_task(run_loops(loops | {"scheduler": scheduler_loop(platform, owner)}, stop))
        try:
            yield door
        finally:
            stop.set()
            await working


@pytest.fixture
async def door(migrated_url: str, tmp_path: Path, cluster: Cluster) -> AsyncIterator[Door]:
    settings = Settings(
        data=tmp_path / "data",
        database=migrated_url,
        port=0,
        search=(cluster.url,),
        egress_allow=("127.0.0.0/8",),
        delay=0.0,
        poll=0.05,
        parse_processes=0,
    )
    async with at_work(settings) as door:
        yield door


def story(text: str = WORDS, head: str = "", title: str = "A story") -> bytes:
    return f"<title>{title}</title>{head}<body><article><h1>{title}</h1><p>{text}</p></article>".encode()


def links(*paths: str) -> Answer:
    return Answer(body="".join(f'<a href="{path}">x</a>' for path in paths).encode())


async def source(client: httpx.AsyncClient, site: SiteHandle, **more: Any) -> str:
    body = {"name": "Daily  News!", "url": site.url, "rate_limit": "1ms"} | more
    answer = await client.post("/api/v1/sources", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


async def crawl(client: httpx.AsyncClient, door: Door, source_id: str, url: str) -> dict[str, Any]:
    """Let a job run once, and everything that it made be indexed; its execution."""
    job = (await client.post("/api/v1/jobs", json={"source_id": source_id, "url": url})).json()["id"]
    await ended(client, job)
    await indexed(door)
    [run] = (await client.get(f"/api/v1/jobs/{job}/executions")).json()["executions"]
    found: dict[str, Any] = run
    return found


async def ended(client: httpx.AsyncClient, job: str) -> dict[str, Any]:
    """Wait until the job is completed or has failed, and return it."""
    async with asyncio.timeout(30):
        while True:
            found: dict[str, Any] = (await client.get(f"/api/v1/jobs/{job}")).json()
            if found["status"] in ("completed", "failed"):
                return found
            await asyncio.sleep(0.05)


async def indexed(door: Door) -> None:
    """Wait until the index knows everything."""
    async with asyncio.timeout(30):
        while True:
            if not await door.platform.records.items.waiting():
                return
            await asyncio.sleep(0.02)


def documents(cluster: Cluster, name: str = "daily_news_raw_content") -> dict[str, Any]:
    """Return the documents of an index, by the last part of their URL."""
    assert all(key == sha256(doc["url"].encode()).hexdigest() for key, doc in cluster.texts[name].items())
    return {doc["url"].rpartition("/")[2]: doc for doc in cluster.texts[name].values()}


async def test_20_equal_pages_are_two_documents_and_a_single_fetch_replaces_none(door: Door, cluster: Cluster) -> None:
    with running_site(pages=1) as site:
        site.site.extra |= {"/": links("/2024/05/a", "/2024/05/b"), "/2024/05/a": story(), "/2024/05/b": story()}
        async with door.client() as client:
            mine = await source(client, site)
            run = await crawl(client, door, mine, site.url)
            assert (run["status"], run["items_crawled"], run["items_indexed"]) == ("completed", 3, 2)
            first = documents(cluster)
            assert set(first) == {"a", "b"}, "the start page has links and no text"
            assert first["a"]["raw_text"] == first["b"]["raw_text"]

            site.site.extra["/2024/05/a"] = story(f"changed {WORDS}")
            row = await rests(client, f"{site.url}2024/05/a", source_id=mine)
            assert row["status"] == "fetched"
            await rests(client, f"{site.url}2024/05/b?new=1", source_id=mine)
            await indexed(door)
            after = documents(cluster)
            assert after["a"] == first["a"], "the document of a crawl stays"
            assert after["b?new=1"]["raw_text"] == first["b"]["raw_text"], "a page without a document gets one"

            await crawl(client, door, mine, site.url)
            assert documents(cluster)["a"]["raw_text"].endswith(f"changed {WORDS}"), "another crawl replaces it"


PUBLISHERS: list[Any] = ["The Daily", {"@type": "Organization", "name": "The Daily"}, [{"name": "The Daily"}]]


async def test_23_a_publisher_in_any_form_is_indexed_in_one(door: Door, cluster: Cluster) -> None:
    with running_site(pages=1) as site:
        for number, publisher in enumerate(PUBLISHERS):
            said: dict[str, Any] = {
                "@context": "https://schema.org",
                "@type": "NewsArticle",
                "headline": f"Nr {number}",
            }
            said |= {"publisher": publisher, "wordCount": 60, "author": [{"name": "A"}, "B"], "datePublished": "soon"}
            head = f'<script type="application/ld+json">{json.dumps(said)}</script>'
            site.site.extra[f"/p{number}"] = story(head=head)
        site.site.extra["/"] = links("/p0", "/p1", "/p2")
        async with door.client() as client:
            run = await crawl(client, door, await source(client, site), site.url)
        assert run["items_indexed"] == 3
        found = documents(cluster)
        assert set(found) == {"p0", "p1", "p2"}
        for number in range(3):
            told = found[f"p{number}"]["json_ld_data"]
            assert told["jsonld_publisher_name"] == told["jsonld_raw"]["publisher"] == "The Daily"
            assert (told["jsonld_schema_type"], told["jsonld_word_count"]) == ("NewsArticle", 60)
            assert (told["jsonld_raw"]["wordCount"], told["jsonld_raw"]["author"]) == ("60", "A, B")
            assert "jsonld_date_published" not in told, "an invalid date is left out"
            assert found[f"p{number}"]["title"] == f"Nr {number}"


HEAD = """<meta name=description content="What it says"><meta property="og:type" content="article">
<meta property="article:published_time" content="2024-05-06 07:08:09"><meta name=author content="Ann">
<meta property="og:site_name" content="Daily"><link rel=canonical href="/canonical">"""


async def test_14_a_document_has_the_contracts_fields(door: Door, cluster: Cluster) -> None:
    with running_site(pages=1) as site:
        site.site.extra |= {
            "/": links("/x", "/thin", "/plain"),
            "/x": story(head=HEAD),
            "/thin": story("too few words", head=HEAD),
            "/plain": story(),
        }
        async with door.client() as client:
            await crawl(client, door, await source(client, site, indigenous_region="north"), site.url)
        found = documents(cluster)
        assert set(found) == {"x"}, "the thin page has too little text, the plain one no metadata"
        document = found["x"]
        times = {document.pop("crawled_at"), document["meta"].pop("created_at"), document["meta"].pop("updated_at")}
        assert all(time.endswith("Z") for time in times)
        assert "<article>" in document.pop("raw_html")
        assert document == {
            "id": sha256(f"{site.url}x".encode()).hexdigest(),
            "url": f"{site.url}x",
            "source_name": "Daily  News!",
            "title": "A story",
            "raw_text": document["raw_text"],
            "meta_description": "What it says",
            "og_type": "article",
            "og_title": "",
            "og_description": "",
            "author": "Ann",
            "canonical_url": f"{site.url}canonical",
            "published_date": "2024-05-06T07:08:09+00:00",
            "meta": {
                "page_type": "article",
                "detected_content_type": "article",
                "og_site_name": "Daily",
                "indigenous_region": "north",
            },
            "classification_status": "pending",
            "word_count": len(document["raw_text"].split()),
        }
        assert document["raw_text"].endswith(WORDS)


async def test_14_selectors_come_first_and_where_they_find_nothing_the_looks_decide(
    door: Door, cluster: Cluster
) -> None:
    inside = f"<body><nav>menu menu</nav><div class=mine><h2>Mine</h2><p>{WORDS}</p></div>"
    with running_site(pages=1) as site:
        site.site.extra |= {
            "/": links("/sel/1", "/sel/2"),
            "/sel/1": f"<title>T</title>{inside}".encode(),
            "/sel/2": story(),
        }
        selectors = {"article": {"container": ".mine", "title": ".mine h2"}}
        async with door.client() as client:
            mine = await source(client, site, selectors=selectors, article_url_patterns=["/sel/"])
            await crawl(client, door, mine, site.url)
        found = documents(cluster)
        assert (found["1"]["title"], "menu" in found["1"]["raw_text"]) == ("Mine", False)
        assert found["1"]["raw_html"].startswith('<div class="mine">')
        assert found["2"]["title"] == "A story"
        assert WORDS in found["2"]["raw_text"]


async def test_10_a_challenge_is_told_of_and_not_indexed(door: Door, cluster: Cluster) -> None:
    with running_site(pages=1) as site:
        site.site.extra |= {
            "/": links("/2024/05/wall", "/2024/05/fine"),
            "/2024/05/wall": Answer(
                body=story(f"Just a moment... {WORDS}"), headers=(("Server", "cloudflare"), ("CF-RAY", "1"))
            ),
            "/2024/05/fine": story(),
        }
        async with door.client() as client:
            run = await crawl(client, door, await source(client, site), site.url)
        assert set(documents(cluster)) == {"fine"}
        assert run["items_indexed"] == 1
        told = await door.peek("SELECT count FROM fates WHERE reason = 'challenge'")
        assert told == 1


async def test_10_2_a_start_page_that_leads_to_another_site_fails_the_run(door: Door) -> None:
    with running_site(pages=1) as site, running_site(pages=1) as other:
        site.site.extra["/"] = Answer(301, headers=(("Location", other.url),))
        async with door.client() as client:
            body = {"source_id": await source(client, site), "url": site.url, "max_retries": 0}
            job = (await client.post("/api/v1/jobs", json=body)).json()["id"]
            found = await ended(client, job)
        assert site.url in found["error_message"]
        assert other.url in found["error_message"]
        assert other.visits()["/"] == 0
