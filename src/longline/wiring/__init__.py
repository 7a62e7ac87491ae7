"""Wiring of the parts: the only place that knows a concrete driver."""

from longline.engine.worker.worker import Progress as WorkerProgress
from longline.services.crawl_loop import CrawlRequest, CrawlResult, Watcher
from longline.wiring.crawl import crawl
from longline.wiring.house import House, open_house
from longline.wiring.read_commands import check_archive, export, read_page, reparse, search
from longline.wiring.serve import serve

__all__ = [
    "CrawlRequest",
    "CrawlResult",
    "House",
    "Watcher",
    "WorkerProgress",
    "check_archive",
    "crawl",
    "export",
    "open_house",
    "read_page",
    "reparse",
    "search",
    "serve",
]
