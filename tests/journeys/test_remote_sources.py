"""A running platform beside a source-manager: it reads feeds and sitemaps and receives events, also in outages."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import jwt

from tests.journeys.place import PATIENCE, Place, wait_until
from tests.journeys.test_serve import Up, up
from tests.servers.source_manager import SECRET, SourceManager, running_manager, shown
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

HASTE = {
    "AUTH_JWT_SECRET": SECRET,
    "CRAWLER_FEED_POLL_ENABLED": "true",
    "CRAWLER_FEED_DISCOVERY_ENABLED": "true",
    "LONGLINE_FEED_POLL": "200ms",
    "LONGLINE_FEED_SEARCH": "200ms",
    "LONGLINE_SOURCES_EVERY": "500ms",
    "LONGLINE_DELAY": "0s",
}
LONG_AGO = shown(time.time() - 30 * 86_400)
HOME = b'<link rel=alternate type="application/rss+xml" href="/found"><title>Home</title>'
TOLD = [("gone/feed-disable", {"reason": "gone"}), ("woken/feed-enable", {})]


def feed(*paths: str) -> Answer:
    items = "".join(f"<item><title>{path}</title><link>{path}</link></item>" for path in paths)
    return Answer(body=f"<rss version='2.0'><channel><title>x</title>{items}</channel></rss>".encode())


def prepared(manager: SourceManager, site: SiteHandle) -> None:
    """Prepare a site with feeds in every condition, each of a source of its own."""
    places = f"<urlset><url><loc>{site.url}page/9</loc></url></urlset>".encode()
    site.site.extra |= {
        "/": HOME,
        "/fine": feed("/page/1", "/page/2"),
        "/quiet": feed(),
        "/back": feed("/page/3"),
        "/found": feed("/page/4"),
        "/dead": Answer(410),
        "/map.xml": Answer(body=places),
    }
    usual = {"url": site.url, "rate_limit": "1ms", "sitemap_url": f"{site.url}none.xml"}
    manager.add("fine", **usual, feed_url=f"{site.url}fine")
    manager.add("gone", **usual, feed_url=f"{site.url}dead")
    rested = {"feed_disabled_at": LONG_AGO, "feed_disable_reason": "gone"}
    manager.add("woken", **usual, feed_url=f"{site.url}back", **rested)
    manager.add("silent", **usual)
    manager.add("mapped", **(usual | {"sitemap_url": f"{site.url}map.xml", "feed_url": f"{site.url}quiet"}))
    manager.add("off", **usual, feed_url=f"{site.url}never", enabled=False)


@contextmanager
def client_of(it: Up) -> Iterator[httpx.Client]:
    now = int(time.time())
    shown = jwt.encode({"sub": "me", "role": "admin", "exp": now + 3600}, SECRET, algorithm="HS256")
    with httpx.Client(base_url=it.where, headers={"Authorization": f"Bearer {shown}"}, timeout=PATIENCE) as client:
        yield client


def fetched(client: httpx.Client, source: str) -> set[tuple[str, str, int]]:
    """Return the paths that the frontier has fetched of a source, with origins and priorities."""
    asked = {"source_id": source, "status": "fetched"}
    found: list[dict[str, Any]] = client.get("/api/v1/frontier", params=asked).json()["urls"]
    return {(one["url"].rpartition("/")[2], one["origin"], one["priority"]) for one in found}


def test_a_source_managers_feeds_are_read_and_reported_also_after_a_kill(place: Place):
    with running_manager() as manager, running_site(pages=10) as site:
        prepared(manager, site)
        manager.trouble = lambda call: (500, b"{}") if call.method != "GET" else None
        given = HASTE | {"CRAWLER_SOURCES_API_URL": manager.url}
        with up(place, **given) as it, client_of(it) as client:
            wanted = {
                "fine": {("1", "feed", 7), ("2", "feed", 7)},
                "woken": {("3", "feed", 7)},
                "silent": {("4", "feed", 7)},
                "mapped": {("9", "sitemap", 6)},
            }
            wait_until(
                lambda: {source: fetched(client, source) for source in wanted} == wanted, "the URLs of its sources"
            )
            tried = {path for path, _ in TOLD}
            wait_until(lambda: {path for path, _ in manager.told()} == tried, "a try to tell it of rests")
            wait_until(lambda: manager.told("PUT"), "a try to tell it of the feed that was found")
            wait_until(lambda: not place.value("SELECT SUM(tell_at) FROM sources"), "the end of the try")
            wait_until(lambda: "chore paused, engine unavailable" in it.log.read_text(), "a word about it")
            assert {one["id"] for one in client.get("/api/v1/sources").json()["sources"]} == set(manager.sources)
            it.process.kill()
            it.process.wait()
            assert it.log.read_text().count("chore paused, engine unavailable") == 1, (
                "logged once, not with every attempt"
            )
        assert "feed_url" not in manager.sources["silent"]
        manager.trouble = lambda _: None
        manager.calls.clear()
        with up(place, **given) as it:
            wait_until(lambda: manager.sources["silent"].get("feed_url"), "the feed that was found")
            wait_until(lambda: sorted(manager.told()) == TOLD, "all that is to be told")
            lists = len(manager.calls)
            wait_until(lambda: len(manager.calls) > lists + 6, "some more lists")
            it.stop()
        assert sorted(manager.told()) == TOLD, "once each"
        assert [path for path, _ in manager.told("PUT")] == ["silent"]
        assert manager.sources["silent"]["selectors"] == {"article": {"title": "h1"}}, "it was written whole"
        visits = site.visits()
        assert (visits["/never"], visits["/dead"]) == (0, 1)
        assert {path: visits[path] for path in visits if path.startswith("/page/")} == {
            f"/page/{n}": 1 for n in (1, 2, 3, 4, 9)
        }
