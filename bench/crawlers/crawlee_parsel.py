"""Crawlee's ParselCrawler on one of its two storages: queue, seen-set and pages in files, or in memory."""
# mypy: disable-error-code="import-not-found, untyped-decorator"

import asyncio

from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient, MemoryStorageClient

from bench.crawlers.order import Order, given, lap

STORAGES = {"file": FileSystemStorageClient, "memory": MemoryStorageClient}


async def _crawl(order: Order) -> None:
    at_once = order.concurrency
    crawler = ParselCrawler(
        configuration=Configuration(storage_dir=order.folder, log_level="ERROR"),
        storage_client=STORAGES[order.storage](),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=at_once, desired_concurrency=at_once, max_concurrency=at_once
        ),
        respect_robots_txt_file=True,
    )

    @crawler.router.default_handler
    async def keep_and_follow(context: ParselCrawlingContext) -> None:
        body = await context.http_response.read()
        title = context.selector.css("title::text").get()
        await context.push_data({"url": context.request.url, "title": title, "html": body.decode(errors="replace")})
        await context.enqueue_links(strategy="same-hostname")

    await crawler.run(order.seeds)


def main() -> None:
    """Crawl by the order."""
    order = given()
    with lap():
        asyncio.run(_crawl(order))


if __name__ == "__main__":
    main()
