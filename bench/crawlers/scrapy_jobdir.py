"""Scrapy with the settings of a crawl that must survive: queue and seen-set on disk, bodies kept, robots obeyed."""
# mypy: disable-error-code="import-not-found, misc"

from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

from bench.crawlers.order import Order, given, lap


class Site(scrapy.Spider):
    """A spider that follows every link inside the hosts and writes each body into a file of its own."""

    name = "site"

    def __init__(self, order: Order, **named: Any) -> None:
        super().__init__(**named)
        self.seeds = order.seeds
        self.bodies = Path(order.folder) / "bodies"
        self.bodies.mkdir()
        self.extractor = LinkExtractor(allow_domains=order.hosts)

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Yield the seeds with the duplicate filter of any other URL; by default Scrapy would fetch them twice."""
        for url in self.seeds:
            yield scrapy.Request(url)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        """Store the page, and follow its links."""
        (self.bodies / sha256(response.url.encode()).hexdigest()).write_bytes(response.body)
        if isinstance(response, HtmlResponse):
            for link in self.extractor.extract_links(response):
                yield scrapy.Request(link.url)


def main() -> None:
    """Crawl by the order."""
    order = given()
    process = CrawlerProcess(_settings(order), install_root_handler=False)
    with lap():
        process.crawl(Site, order=order)
        process.start()


def _settings(order: Order) -> dict[str, Any]:
    return {
        "JOBDIR": str(Path(order.folder) / "job"),
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": order.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": order.concurrency,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }


if __name__ == "__main__":
    main()
