"""A real browser at the console: every request, console message and refused content is recorded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Page, async_playwright

from tests.console.visiting import token
from tests.surfaces.intervals.platform import Door

CHECKS = """() => {
  const problems = [];
  const named = (e) => (e.getAttribute('aria-label') || e.textContent || e.title || '').trim()
      || document.querySelector(`label[for="${CSS.escape(e.id || '-')}"]`) || e.closest('label');
  for (const e of document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a[href], summary'))
    if (!named(e)) problems.push(`no name: ${e.outerHTML.slice(0, 120)}`);
  for (const e of document.querySelectorAll('img:not([alt]), svg[role=img]:not([aria-label])'))
    problems.push(`no text: ${e.outerHTML.slice(0, 80)}`);
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) problems.push(`id twice: ${id}`);
  if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1');
  if (document.querySelectorAll('[style], script:not([src])').length) problems.push('inline style or script');
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) problems.push(`${wide} px too wide`);
  if (document.documentElement.dataset.owned) problems.push('a script ran');
  return problems;
}"""
"""Accessible names, texts of images, unique ids, one heading, no inline content, no sideways scrolling."""


class Visit:
    """A browser window that has logged in."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self._address = page, address
        self.problems: list[str] = []
        page.on("console", lambda message: self._note(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", lambda request: self._check(request.url))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(f"console: {text}")

    def _check(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self._address).netloc and not url.startswith(("data:", "about:")):
            self.problems.append(f"request to another host: {url}")

    async def show(self, path: str) -> None:
        """Show a page and check it."""
        answer = await self.page.goto(f"{self._address}{path}", wait_until="load")
        if answer is None or answer.status != 200:
            self.problems.append(f"{path}: {answer.status if answer else 'no answer'}")
        self.problems += [f"{path}: {problem}" for problem in await self.page.evaluate(CHECKS)]


@asynccontextmanager
async def browse(
    door: Door, chromium: Path, *, width: int = 1280, scheme: str = "light", role: str = "admin"
) -> AsyncIterator[Visit]:
    """Yield a window of this width with a login of this role."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        context = await browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        visit = Visit(await context.new_page(), door.address)
        await visit.page.goto(f"{door.address}/console/login")
        await visit.page.fill("[name=credentials]", token(door, role))
        await visit.page.click("main button[type=submit], form button[type=submit]")
        await visit.page.wait_for_url("**/console")
        yield visit
        await browser.close()
