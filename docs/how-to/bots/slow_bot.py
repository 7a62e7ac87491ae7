"""Reads prices off pages with selectors of its own for each shop, politely and slowly, keeping its locks alive."""

import asyncio
import os
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from selectolax.lexbor import LexborHTMLParser

from longline.sdk import Bot, Found, Job, JobFailed, RequestRefused, Unreachable, main

SERVER = os.environ.get("LONGLINE_SERVER", "http://127.0.0.1:8060")
PAUSE = float(os.environ.get("PAUSE", "1.0"))
bot = Bot(SERVER, "slow-bot", os.environ.get("BOT_TOKEN"), concurrency=2)
one_at_a_time = asyncio.Lock()


@bot.on("localhost")
async def books(job: Job) -> Found:
    """A shop that writes `<span class="price">12.50 EUR</span>`."""
    page = await fetch(job)
    price = page.css_first("span.price")
    if price is None:
        raise JobFailed("no price on this page")
    amount, currency = price.text(strip=True).split()
    title = page.css_first("title")
    return Found(amount, currency, title=title.text(strip=True) if title else "")


@bot.on("127.0.0.1")
async def tools(job: Job) -> Found:
    """A shop that hides its price in an attribute, and says when it is sold out."""
    page = await fetch(job)
    price = page.css_first("[data-price]")
    if price is None:
        raise JobFailed("no price on this page")
    return Found(price.attributes["data-price"] or "0", "USD", in_stock=page.css_first(".sold-out") is None)


async def fetch(job: Job) -> LexborHTMLParser:
    """The page, when it is its turn; the lock on the job is kept alive meanwhile."""
    async with kept(job), one_at_a_time:
        await asyncio.sleep(PAUSE)
        with await asyncio.to_thread(urllib.request.urlopen, job.url, timeout=20) as answer:
            return LexborHTMLParser(answer.read().decode())


@asynccontextmanager
async def kept(job: Job) -> AsyncIterator[None]:
    """Say now and then that we still work on a job."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(job.timeout_seconds / 3)
            with suppress(RequestRefused, Unreachable):
                await bot.door.heartbeat(job)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()


if __name__ == "__main__":
    raise SystemExit(main(bot))
