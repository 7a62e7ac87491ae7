"""An operator's story, done in the browser alone, with a real site, real proxies and the real program.

A source is registered and scheduled, its run is watched, a failing proxy is found and disabled, the failed page is
fetched again and found by search. Afterwards the audit has a line for each of the actions.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.console.browser.watched import Watched, watch
from tests.servers.proxies import running_proxy
from tests.surfaces.manifests.running import serving
from tests.web.running import SiteHandle, running_site
from tests.web.wire import Answer, Request

HOME = b"<title>Lighthouse news</title><h1>Lighthouse news</h1>" + b"".join(
    f'<p><a href="/{name}">{name}</a></p>'.encode() for name in ("tides", "lamps", "keeper", "storms", "closed")
)
WORDS = "It is kept trimmed by the light, and waits for the ferry."
WAIT_MS = 90_000


class Gate:
    """A page that is refused until it is opened."""

    def __init__(self) -> None:
        self.is_open = False

    def answer(self, _: Request) -> Answer:
        if not self.is_open:
            return Answer(403, b"<title>Closed</title>")
        return Answer(body=article("Anglerfish lantern"))


def article(title: str) -> bytes:
    """Return a page about a product."""
    offer = {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR"}
    told = {"@context": "https://schema.org", "@type": "Product", "name": title, "description": WORDS, "offers": offer}
    script = f'<script type="application/ld+json">{json.dumps(told)}</script>'
    return f"<title>{title}</title>{script}<h1>{title}</h1><p>{WORDS}</p>".encode()


@contextmanager
def lighthouse() -> Iterator[tuple[SiteHandle, Gate]]:
    """Yield a site of six pages, one of which is refused at first."""
    gate = Gate()
    with running_site(0, delay=0.3) as site:
        site.site.extra |= {f"/{name}": article(f"About {name}") for name in ("tides", "lamps", "keeper", "storms")}
        site.site.extra |= {"/": HOME, "/closed": gate.answer}
        yield site, gate


@contextmanager
def running_program(folder: Path) -> Iterator[tuple[str, str]]:
    """Run the whole program on SQLite, and yield its address and the link that logs in once."""
    environ = {
        **os.environ,
        "LONGLINE_DATA": str(folder),
        "LONGLINE_PORT": "0",
        "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
        "LONGLINE_DELAY": "0",
        "LONGLINE_PARSE_PROCESSES": "0",
    }
    with serving(["up"], environ, folder / "log") as (address, program):
        assert program.stdout is not None
        link = ""
        while "/console/enter" not in link:
            link = program.stdout.readline().decode()
            assert link, (folder / "log").read_text()[-2000:]
        found = re.search(r"http\S+/console/enter\S+", link)
        assert found, link
        yield address, found[0]


def register_proxy(page: Page, address: str, uri: str) -> str:
    """Register a proxy; return the address of its page."""
    page.goto(f"{address}/console/proxies")
    page.get_by_label("URI").fill(uri)
    page.get_by_role("button", name="Register").click()
    expect(page.locator("h1")).to_contain_text(uri.rpartition(":")[2])
    return page.url


def register_source(page: Page, address: str, site: str) -> str:
    """Register the source and give it all proxies; return the address of its page."""
    page.goto(f"{address}/console/sources")
    page.get_by_role("link", name="Register the first source").click()
    page.get_by_label("Name", exact=True).fill("Lighthouse news")
    page.get_by_label("Start URL").fill(site)
    page.get_by_label("Parser", exact=True).fill("product")
    page.get_by_label("Depth of links").fill("2")
    page.get_by_label("Seconds between two requests").fill("0")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("h1")).to_have_text("Lighthouse news")
    source = page.url
    page.get_by_role("link", name="Choose proxies").click()
    for box in page.locator("input[name=proxies]").all():
        box.check()
    page.get_by_role("button", name="Assign the chosen").click()
    expect(page.locator("section", has_text="of this source alone").locator("tbody tr")).to_have_count(2)
    return source


def schedule(page: Page, source: str) -> str:
    """Make a schedule of six hours, with the present slot as its first free one; return the address of its page."""
    page.goto(source)
    page.get_by_role("link", name="Schedule it").click()
    page.get_by_label("Every", exact=True).fill("6")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("h1 + .badge")).to_have_text(re.compile("scheduled|running"))
    return page.url


def see_next_run(page: Page, made: str) -> None:
    """Check that the time to the next run goes down by the server's clock."""
    page.goto(made)
    left = page.locator("dd", has=page.locator("[data-until]")).first
    expect(left).to_contain_text(re.compile(r"in \d+ (h|min)"))
    told = page.locator("[data-until]").first
    page.evaluate("e => e.dataset.until = Number(e.dataset.until) - 3600000", told.element_handle())
    before = told.text_content()
    expect(told).not_to_have_text(before or "")


def watch_run(page: Page, address: str) -> str:
    """Wait for the run in the live list, and follow it to its end; return the address of its page."""
    page.goto(f"{address}/console/runs?kind=crawl")
    row = page.locator("tbody tr", has_text="Lighthouse news")
    news = page.get_by_role("link", name=re.compile("newer run"))
    expect(row.or_(news).first).to_be_visible(timeout=WAIT_MS)
    if news.is_visible():
        news.click()
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    row.get_by_role("link", name="Lighthouse news").click()
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    expect(page.locator("[data-run-state]")).to_have_text(re.compile("completed|failed"), timeout=WAIT_MS)
    expect(page.locator("[data-fate=completed]")).to_contain_text("5")
    expect(page.locator("[data-fate=failed]")).to_contain_text("1")
    return page.url


def disable_failing_proxy(page: Page, address: str, good: str, bad: str) -> None:
    """Find the proxy that fails, and disable it with a reason."""
    page.goto(f"{address}/console/proxies")
    healths = page.get_by_role("group", name="Health matrix").locator("tbody tr")
    expect(healths).to_have_count(2)
    healths.filter(has=page.locator(".hs-fail")).get_by_role("link").click()
    assert page.url == bad != good
    expect(page.locator("section", has_text="At each source").locator("td.bad")).to_have_count(1)
    page.get_by_role("button", name="Disable…").click()
    page.get_by_label("Reason, for the audit").fill("every request by it fails")
    page.get_by_role("button", name="Disable it").click()
    expect(page.locator("h1 + .badge")).to_have_text("disabled")


def replay_failed(page: Page, run: str) -> None:
    """Fetch the failed page again and see it arrive."""
    page.goto(run)
    page.get_by_role("button", name="Retry 1 failed…").click()
    page.get_by_label("Reason, for the audit").fill("the page is open now")
    page.get_by_role("button", name="Retry them").click()
    expect(page.locator(".toast")).to_contain_text("1 failed URL will be fetched again")
    expect(page.locator("[data-fate=completed]")).to_contain_text("6", timeout=WAIT_MS)
    expect(page.locator("[data-fate=failed]")).to_contain_text("0")
    expect(page.locator("[data-run-state]")).to_have_text("completed", timeout=WAIT_MS)


def find_result(page: Page) -> None:
    """Find the page by its words, from the search box of the frame."""
    for _ in range(10):
        page.keyboard.press("/")
        page.locator("#q").fill("anglerfish lantern")
        page.keyboard.press("Enter")
        page.wait_for_load_state("load")
        if page.get_by_role("link", name="Anglerfish lantern").count():
            break
        page.wait_for_timeout(1000)
    page.get_by_role("link", name="Anglerfish lantern").first.click()
    expect(page.locator("h1")).to_have_text("Anglerfish lantern")


def audit_lines(page: Page, address: str) -> list[tuple[str, str, str]]:
    """Return the lines of the audit page, the oldest first: action, person and reason."""
    page.goto(f"{address}/console/audit")
    rows = page.locator("tbody tr").all()
    told = [(row.locator("td").nth(0), row.locator("td").nth(2), row.locator("td").nth(5)) for row in rows]
    return [(a.inner_text(), b.inner_text(), c.inner_text()) for a, b, c in reversed(told)]


@pytest.mark.slow("the program crawls a site while a browser watches it")
def test_the_story_of_an_operator(browser: Browser, tmp_path: Path):
    with (
        lighthouse() as (site, gate),
        running_proxy("http") as sound,
        running_proxy("http") as broken,
        running_program(tmp_path) as (address, link),
        watch(browser, address) as visit,
    ):
        broken.die()
        page = visit.page
        page.goto(link)
        expect(page).to_have_title("Overview · Longline")
        good, bad = (register_proxy(page, address, one.uri) for one in (sound, broken))
        source = register_source(page, address, site.url)
        made = schedule(page, source)
        run = watch_run(page, address)
        see_next_run(page, made)
        disable_failing_proxy(page, address, good, bad)
        gate.is_open = True
        replay_failed(page, run)
        find_result(page)
        told = audit_lines(page, address)
        check_story(visit, told)


def check_story(visit: Watched, told: list[tuple[str, str, str]]) -> None:
    """Check the audit line by line: every step of the operator, in order, and nothing else."""
    assert [action for action, _, _ in told] == [
        "session.open",
        "proxy.create",
        "proxy.create",
        "source.create",
        "proxy.assign",
        "schedule.create",
        "proxy.disable",
        "task.restart",
    ]
    [person] = {who for _, who, _ in told}
    assert person
    reasons = {action: reason for action, _, reason in told if reason not in ("", "–")}
    assert reasons == {"proxy.disable": "every request by it fails", "task.restart": "the page is open now"}
    visit.check()
