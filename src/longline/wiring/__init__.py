"""Wiring of the parts: the only place that knows a concrete driver.

Only commands that serve import `longline.wiring.serve`: with the HTTP APIs a command takes twice as long to start.
"""

from longline.engine.worker.worker import Progress as WorkerProgress
from longline.services.crawls.crawl_loop import CrawlResult, Watcher
from longline.services.crawls.crawl_options import CrawlRequest
from longline.wiring.crawl import crawl
from longline.wiring.platform import Platform, open_platform
from longline.wiring.read_commands import (
    FolderOutput,
    check_archive,
    delete_run,
    diff,
    export,
    export_items,
    export_urls,
    get_run,
    list_runs,
    list_urls,
    parsers_of_run,
    platform_parsers,
    read_page,
    reparse,
    search,
    serve_mcp,
    stored_parsers,
)

__all__ = [
    "CrawlRequest",
    "CrawlResult",
    "FolderOutput",
    "Platform",
    "Watcher",
    "WorkerProgress",
    "check_archive",
    "crawl",
    "delete_run",
    "diff",
    "export",
    "export_items",
    "export_urls",
    "get_run",
    "list_runs",
    "list_urls",
    "open_platform",
    "parsers_of_run",
    "platform_parsers",
    "read_page",
    "reparse",
    "search",
    "serve_mcp",
    "stored_parsers",
]
