"""A render service: a browser opens a page, runs its scripts, and the answer is the page as it stands then."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar, post
from litestar.datastructures import State
from playwright.async_api import async_playwright

MAX_PAGES = 4  # open at once; more wait


@asynccontextmanager
async def browser(app: Litestar) -> AsyncIterator[None]:
    async with async_playwright() as playwright:
        app.state.browser = await playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM"))
        app.state.turns = asyncio.Semaphore(MAX_PAGES)
        yield
        await app.state.browser.close()


@post("/render", status_code=200)
async def render(data: dict[str, str], state: State) -> dict[str, str | int]:
    async with state.turns:
        page = await state.browser.new_page()
        try:
            answer = await page.goto(data["url"], wait_until="networkidle")
            status = answer.status if answer else 200
            return {"html": await page.content(), "final_url": page.url, "status_code": status}
        finally:
            await page.close()


app = Litestar([render], lifespan=[browser])
