"""A small real website on loopback for crawl tests: a known graph of pages, a log of every request, and faults."""

from tests.web.running import SiteHandle, running_site
from tests.web.site import Site, Visit

__all__ = ["Site", "SiteHandle", "Visit", "running_site"]
