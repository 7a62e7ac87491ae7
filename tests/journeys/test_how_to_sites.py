"""The commands of the manual about scripts, delays, proxies and duplicates work as printed, typed into a shell."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import httpx

from tests.journeys.place import Place, wait_until
from tests.journeys.test_how_to_limit import MANUAL, blocks, commands, type_in
from tests.journeys.test_intervals import QUICK, quick
from tests.journeys.test_items import read_csv
from tests.journeys.test_own_parsers import run_job
from tests.journeys.test_schedules import Reader
from tests.journeys.test_scope import page
from tests.servers.process import free_ports
from tests.servers.proxies import Manners, running_proxy
from tests.servers.shell import type_command
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer, Request

EMPTY = b"<title>Loading</title><div id=root></div><script src=/app.js></script>"
SCRIPT = b"document.getElementById('root').innerHTML = '<h1>' + location.pathname + '</h1><a href=/two>two</a>'"


def gaps(site: SiteHandle) -> list[float]:
    """Return the seconds between two requests for pages."""
    times = [visit.time for visit in site.requests if visit.path != "/robots.txt"]
    return [later - earlier for earlier, later in pairwise(times)]


# -- scripts ----------------------------------------------------------------------------------------------------


def render(request: Request) -> Answer:
    """Answer as a render service whose browser has run the script of the page."""
    url = json.loads(request.body)["url"]
    path = "/" + url.split("/", 3)[3]
    shown = EMPTY.decode().replace("></div>", f"><h1>{path}</h1><a href=/two>two</a></div>")
    told = {"html": shown, "final_url": url, "status_code": 200}
    return Answer(body=json.dumps(told).encode(), content_type="application/json")


def type_of_scripts(place: Place, folder: Path, site: SiteHandle, service: str) -> str:
    """Type the commands of the page, and return the page that is printed at the end."""
    with quick(place, f'{QUICK}render_url = "{service}"\n') as (it, client):
        reader = Reader(it, place, folder, site.url, MANUAL / "javascript.md")
        reader.called["https://app.example/"] = site.url
        by_hand = reader.commands[:2]
        assert reader.commands[2].strip() == "export LONGLINE_RENDER_URL=http://127.0.0.1:3000"
        assert reader.commands[3].strip() == "longline up"
        del reader.commands[:4]
        reader.type()
        made = reader.ask()
        assert made["render_mode"] == "dynamic"
        reader.called["{source}"] = made["id"]
        job = reader.ask()["id"]
        wait_until(lambda: [run["status"] for run in client.runs(job)] == ["completed"], "the end of the job")
        assert client.runs(job)[0]["items_crawled"] == 2, "a link that only the script makes is followed"
        printed = reader.type()
        assert reader.commands == []
        it.stop()
    site_url = site.url.rstrip("/")
    led = [line.replace("https://app.example", site_url).replace("http://127.0.0.1:3000", service) for line in by_hand]
    crawled, same = (type_in(line, site, folder) for line in led)
    assert re.search(r"completed\W+ok\W+2\b", crawled)
    assert same == printed, "by hand and on the platform"
    return printed


def test_scripts_by_a_render_service(tmp_path: Path) -> None:
    with running_site(pages=0) as site, running_site(pages=0) as service:
        service.site.extra["/render"] = render
        assert "<h1>/</h1>" in type_of_scripts(Place(tmp_path / "data"), tmp_path, site, service.url)
        assert service.visits()["/render"] == 4
        assert set(site.visits()) == {"/robots.txt"}, "the service fetches the pages"
        site.site.extra["/"] = EMPTY
        type_in(f"longline crawl {site.url} --out plain", site, tmp_path)
        assert service.visits()["/render"] == 4, "the service of the settings file is for sources"
        (tmp_path / "longline.toml").unlink()
        again = type_command(f"longline crawl {site.url} --again --out app", {**os.environ}, tmp_path)
        told = "error: the pages of this crawl are rendered; name the render service with --render-url\n"
        assert (again.returncode, again.stderr) == (2, told)


def test_the_render_service_of_the_manual(tmp_path: Path, chromium: Path) -> None:
    [port] = free_ports(1)
    [line] = [line for line in commands("javascript.md") if line.startswith("uvicorn ")]
    words = line.replace("--port 3000", f"--port {port}").split()
    environment = {**os.environ, "CHROMIUM": str(chromium), "PYTHONDONTWRITEBYTECODE": "1"}
    with running_site(pages=0) as site:
        site.site.extra |= {"/": EMPTY, "/two": EMPTY, "/app.js": Answer(body=SCRIPT, content_type="text/javascript")}
        with subprocess.Popen([sys.executable, "-m", *words], cwd=MANUAL.parents[1], env=environment) as service:
            try:
                where = f"http://127.0.0.1:{port}"
                wait_until(lambda: answers(where), "the service")
                assert "<h1>/</h1>" in type_of_scripts(Place(tmp_path / "data"), tmp_path, site, where)
                lost = httpx.post(f"{where}/render", json={"url": f"{site.url}lost"}, timeout=60).json()
                assert lost["status_code"] == 404
            finally:
                service.terminate()


def answers(where: str) -> bool:
    try:
        return httpx.get(where).status_code == 404
    except httpx.TransportError:
        return False


# -- delays -----------------------------------------------------------------------------------------------------


def test_delays(tmp_path: Path) -> None:
    [by_hand] = [line for line in commands("delays.md") if line.startswith("longline crawl")]
    with running_site(pages=5) as site:
        type_in(by_hand.replace("--delay 5s", "--delay 300ms"), site, tmp_path)
        assert len(gaps(site)) == 4
        assert min(gaps(site)) >= 0.3


def test_the_delay_of_a_source(tmp_path: Path) -> None:
    place = Place(tmp_path / "data")
    with running_site(pages=5) as site, quick(place) as (it, client):
        reader = Reader(it, place, tmp_path, site.url, MANUAL / "delays.md")
        reader.called['"5s"'] = '"300ms"'
        source = {"name": "Slow", "url": site.url, "rate_limit": "1ms", "max_depth": -1, "parser": "page"}
        reader.called["{source}"] = mine = client.post("/api/v1/sources", source)["id"]
        del reader.commands[0]
        reader.type()
        assert reader.ask()["rate_limit"] == "300ms"
        assert run_job(client, mine, site.url)["items_crawled"] == 5
        assert min(gaps(site)) >= 0.3
        it.stop()


# -- proxies ----------------------------------------------------------------------------------------------------


def test_proxies(tmp_path: Path) -> None:
    crawl, *registered = commands("proxies.md")
    asks = Manners(username="anna", password="secret")
    with running_site(pages=6) as site, running_proxy("http", asks) as first, running_proxy("socks5") as second:
        led = {"http://anna:secret@192.0.2.1:3128": first.uri, "socks5://192.0.2.2:1080": second.uri}
        told = []
        for line in [crawl, *registered]:
            for theirs, ours in led.items():
                line = line.replace(theirs, ours)
            told.append(type_in(line, site, tmp_path, COLUMNS="200"))
        assert first.passages
        assert second.passages
    assert re.search(r"completed\W+ok\W+6\b", told[0])
    assert [line.split(":")[0] for line in told[1:3]] == ["proxy 1", "proxy 2"]
    assert "secret" not in "".join(told[1:])
    assert Place(tmp_path / "longline-data").ask("SELECT source_id, proxy_id FROM source_proxies") == [(100000, 2)]


# -- duplicates -------------------------------------------------------------------------------------------------


def test_duplicates(tmp_path: Path) -> None:
    (tmp_path / "books.py").write_text(blocks("duplicates.md", "python")[0])
    [line] = commands("duplicates.md")
    book = b"<title>A book</title><h1 class=book>Lines</h1><p class=isbn>978-3-16-148410-0</p>"
    with running_site(pages=0) as site:
        here = site.url.rstrip("/")
        spellings = [f"{here.upper()}/%7Eu#top", "/~u", "/%7eu"]
        site.site.extra |= {
            "/": page(*spellings, "/book/1", "/book/1?utm_source=mail", "/books?sort=price", "/offer/1"),
            **{path: book for path in ("/book/1", "/offer/1", "/~u", "/%7Eu")},
        }
        told = type_in(line.replace("https://books.example", "https://example.com"), site, tmp_path)
        visited = {path: count for path, count in site.visits().items() if path != "/robots.txt"}
    assert sorted(visited.values()) == [1, 1, 1, 1], visited
    assert "2 links were in an --exclude" in told
    assert [row["title"] for row in read_csv(tmp_path / "books.csv")] == ["Lines"]
