"""Variables of the interval contract on a running platform, and their effect on sites, proxies and clients."""

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
import trustme

from tests.journeys.place import PATIENCE, Place, wait_until
from tests.journeys.test_intervals import Client
from tests.journeys.test_serve import Up, up
from tests.servers.process import free_ports
from tests.servers.proxies import Manners, running_proxy
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

QUICK = {"LONGLINE_POLL": "100ms"}
HOUR_MS = 3_600_000


@contextmanager
def served(place: Place, **given: str) -> Iterator[tuple[Up, Client]]:
    """Yield a platform with these variables, and a client of it."""
    with up(place, **QUICK, **given) as it:
        client = Client(it, place)
        with client.http:
            yield it, client


def crawled(client: Client, site: SiteHandle, **source: Any) -> dict[str, Any]:
    """Run a job that crawls the site, and return its one run once it has ended."""
    job = begun(client, site, **source)
    wait_until(lambda: [r for r in client.runs(job) if r["status"] != "running"], "the end of the run")
    [run] = client.runs(job)
    return run


def begun(client: Client, site: SiteHandle, **source: Any) -> str:
    said = {"name": f"site {site.url}", "url": site.url, "rate_limit": "1ms", "max_depth": -1}
    made = client.post("/api/v1/sources", said | source)
    return str(client.post("/api/v1/jobs", {"source_id": made["id"], "url": site.url})["id"])


def links(*paths: str) -> Answer:
    return Answer(body="".join(f'<a href="{path}">{path}</a>' for path in paths).encode())


class Renderer:
    """A rendering service: it returns a page as its script would make it, and `/moves` redirects by script."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/render"
                url = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["url"]
                service.asked.append(url)
                answer = json.dumps(service.render(url)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Write no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def render(self, url: str) -> dict[str, Any]:
        made = "".join(f'<a href="/{path}">{path}</a>' for path in ("story", "moves"))
        landed = url.replace("moves", "moved")
        return {"html": f"<title>Made of {landed}</title>{made}", "final_url": landed, "status_code": 200}


@contextmanager
def rendering() -> Iterator[Renderer]:
    """Yield the service for the time of the context."""
    service = Renderer()
    thread = threading.Thread(target=service.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        thread.join()
        service.server.server_close()


def test_links_are_followed_with_a_referer_and_only_so_long_ones(embedded: Place):
    with running_site(pages=1) as site:
        longest = len(f"{site.url}story/1")
        site.site.extra = {"/": links("/story/1", "/story/12"), "/story/1": links("/deep")}
        with served(embedded, CRAWLER_MAX_URL_LENGTH=str(longest)) as (_, client):
            run = crawled(client, site)
    told = {visit.path: visit.headers.get("referer") for visit in site.requests}
    assert told == {"/robots.txt": None, "/": None, "/story/1": site.url, "/deep": f"{site.url}story/1"}
    assert run["items_crawled"] == 2, "/deep does not exist"
    assert ("refused", "too_long", 1) in embedded.ask("SELECT fate, reason, count FROM fates")


def test_no_referer_is_sent_if_the_operator_says_so(embedded: Place):
    with running_site(pages=3) as site, served(embedded, CRAWLER_USE_REFERER="false") as (_, client):
        site.site.extra = {"/": links("/story/1")}
        crawled(client, site)
        assert [visit.headers.get("referer") for visit in site.requests] == [None] * 3


def test_dynamic_sources_are_rendered_and_others_are_not(embedded: Place):
    with rendering() as service, running_site(pages=1) as dynamic, running_site(pages=1) as static:
        static.site.extra = {"/": b"<title>Static</title>"}
        with served(embedded, CRAWLER_RENDER_WORKER_URL=service.url) as (_, client):
            run = crawled(client, dynamic, render_mode="dynamic")
            crawled(client, static, render_mode="static")
    assert (run["status"], run["items_crawled"]) == ("completed", 3)
    assert sorted(service.asked) == [dynamic.url, f"{dynamic.url}moves", f"{dynamic.url}story"]
    assert set(dynamic.visits()) == {"/robots.txt"}, "its rules are still its own word"
    assert set(static.visits()) == {"/robots.txt", "/"}
    titles = {title for (title,) in embedded.ask("SELECT title FROM pages")}
    assert titles == {"Static", *(f"Made of {dynamic.url}{path}" for path in ("", "moved", "story"))}


def test_a_rendering_service_that_is_away_fails_the_page(embedded: Place):
    given = {"CRAWLER_RENDER_WORKER_URL": f"http://127.0.0.1:{free_ports(1)[0]}", "CRAWLER_HTTP_RETRY_MAX": "0"}
    with running_site(pages=1) as site, served(embedded, **given) as (_, client):
        run = crawled(client, site, render_mode="dynamic")
    assert run["items_crawled"] == 0
    assert embedded.ask("SELECT fate, reason, count FROM fates") == [("failed", "render_failed", 1)]


def test_without_verifying_any_certificate_will_do_and_one_line_warns(embedded: Place):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("elsewhere.example").configure_cert(context)
    with running_site(pages=1, tls=context) as site:
        site.site.extra = {"/": b"<title>Secure</title>"}
        with served(embedded, CRAWLER_TLS_INSECURE_SKIP_VERIFY="true") as (it, client):
            assert crawled(client, site)["items_crawled"] == 1
            logged = it.stop()
    assert logged.count("CRAWLER_TLS_INSECURE_SKIP_VERIFY disables certificate verification") == 1


def test_a_page_that_fails_waits_as_long_as_the_operator_says(embedded: Place):
    with running_site(pages=1) as site, served(embedded, CRAWLER_HTTP_RETRY_DELAY="1h") as (_, client):
        site.site.extra = {"/": Answer(500)}
        begun(client, site)
        wait_until(lambda: embedded.ask("SELECT due FROM queue WHERE due > 0"), "the page back in the queue")
        due = embedded.value("SELECT due FROM queue")
    assert due > time.time() * 1000 + HOUR_MS / 2


def test_a_host_keeps_to_its_proxy(embedded: Place):
    with (
        running_proxy("http", Manners()) as one,
        running_proxy("http", Manners()) as other,
        running_site(pages=12) as first,
        running_site(pages=12) as second,
    ):
        given = {"CRAWLER_PROXY_POOL_ENABLED": "true", "CRAWLER_PROXY_POOL_URLS": f"{one.uri},{other.uri}"}
        for site in (first, second):
            site.site.extra = {"/": links(*(f"/story/{n}" for n in range(5)))}
        with served(embedded, **given) as (_, client):
            for site in (first, second):
                crawled(client, site)
        seen = [{httpx.URL(f"//{target}").port for target in proxy.targets} for proxy in (one, other)]
    assert sorted(map(list, seen)) == sorted([httpx.URL(site.url).port] for site in (first, second))


def test_a_server_that_asks_for_its_key_and_shows_where_time_goes(embedded: Place):
    port = free_ports(1)[0]
    given = {"CRAWLER_SERVER_SECURITY_ENABLED": "true", "CRAWLER_SERVER_API_KEY": "me:secret"}
    with served(embedded, **given, ENABLE_PROFILING="true", PPROF_PORT=str(port)) as (it, client):
        asked = {key: client.http.get("/api/v1/jobs", headers={"X-API-Key": key}) for key in ("", "me:x", "me:secret")}
        assert {key: answer.status_code for key, answer in asked.items()} == {"": 401, "me:x": 401, "me:secret": 200}
        assert client.http.get("/health").status_code == 200
        measured = httpx.get(f"http://127.0.0.1:{port}/debug/pprof/profile?seconds=0.2", timeout=PATIENCE)
        assert "cumulative time" in measured.text
        it.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/debug/pprof/", timeout=PATIENCE)
