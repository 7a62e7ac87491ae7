"""Reads the price that a shop gives to search engines (JSON-LD). Needs nothing but the SDK."""

import asyncio
import json
import os
import re
import urllib.request

from longline.sdk import Bot, Found, Job, JobFailed, main

SERVER = os.environ.get("LONGLINE_SERVER", "http://127.0.0.1:8060")
bot = Bot(SERVER, "price-bot", os.environ.get("BOT_TOKEN"), concurrency=8)

_JSON_LD = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.DOTALL)


@bot.on()
async def price(job: Job) -> Found:
    """Fetch the page and find the offer in it; whatever is raised here is submitted as a failure."""
    html = await asyncio.to_thread(fetch, job.url)
    for text in _JSON_LD.findall(html):
        product = json.loads(text)
        if product.get("@type") == "Product":
            offer = product["offers"]
            return Found(
                price=str(offer["price"]),
                currency=offer["priceCurrency"],
                title=product.get("name", ""),
                in_stock="InStock" in offer.get("availability", "InStock"),
                parsed_data={"source_url": job.url, "price_sources": ["jsonld"], "confidence": 0.95},
                raw_html=html,
            )
    raise JobFailed("no product on this page")


def fetch(url: str) -> str:
    """The text of a page."""
    request = urllib.request.Request(url, headers={"User-Agent": "price-bot/1.0"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return str(answer.read().decode(answer.headers.get_content_charset() or "utf-8"))


if __name__ == "__main__":
    raise SystemExit(main(bot))
