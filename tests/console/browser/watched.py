"""A page in the browser with a record: errors, refused content, and requests to other hosts fail its test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.console.browser.stage import Stage

PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")


class Watched:
    """A page, and its recorded requests, errors and refused content."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.requested: list[str] = []
        self.complaints: list[str] = []
        self.expected: set[str] = set()
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, path: str) -> Page:
        """Load a page of the console."""
        self.page.goto(f"{self.address}{path}", wait_until="load")
        return self.page

    def probe(self) -> dict[str, Any]:
        """Return contrast, labels and overflow of the page in its present state."""
        found: dict[str, Any] = self.page.evaluate(PROBE)
        return found

    def check(self) -> None:
        """Fail if the page had an error, sent a request to another host, or refused content."""
        hosts = {urlsplit(url).netloc for url in self.requested if not url.startswith("data:")}
        assert hosts <= {urlsplit(self.address).netloc}, hosts
        assert not [url for url in self.requested if "csp-report" in url]
        unexpected = [text for text in self.complaints if not any(known in text for known in self.expected)]
        assert not unexpected, unexpected


class Visit(Watched):
    """A page of a platform on a stage."""

    def __init__(self, page: Page, stage: Stage) -> None:
        super().__init__(page, stage.address)
        self.stage = stage

    def log_in(self, role: str = "admin") -> None:
        """Log in by the form."""
        self.open("/console/login")
        self.page.get_by_label("Token or API key").fill(self.stage.token(role))
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url("**/console")


@contextmanager
def watch(browser: Browser, address: str) -> Iterator[Watched]:
    """Yield a recorded page of a program that runs at an address."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        yield Watched(context.new_page(), address)
    finally:
        context.close()


@contextmanager
def watched(
    browser: Browser,
    stage: Stage,
    role: str = "",
    size: tuple[int, int] = (1280, 900),
    scheme: Literal["light", "dark"] = "light",
) -> Iterator[Visit]:
    """Yield a visit, logged in with a role if one is given."""
    viewport: Any = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)
    visit = Visit(context.new_page(), stage)
    try:
        if role:
            visit.log_in(role)
        yield visit
        visit.check()
    finally:
        context.close()
