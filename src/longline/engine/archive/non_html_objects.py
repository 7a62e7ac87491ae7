"""Pages as objects: files that a run fetches as pages, such as images, each under a key made of its URL."""

from longline.engine.fetch.fetcher import Fetched
from longline.model.frontier.reasons import OK
from longline.model.object_keys import page_object_key
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.blobs import Blobs

_HTML = frozenset({"text/html", "application/xhtml+xml", ""})


class PageObjects:
    """The writer of pages as objects. A page that is fetched again replaces its object."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def store(self, plan: CrawlPlan, fetched: Fetched) -> str | None:
        """Store a fetched page if its plan asks for objects and it is no HTML; return the key of its object."""
        response = fetched.response
        if not plan.objects or fetched.reason != OK or response is None or fetched.same_as is not None:
            return None
        if response.media_type in _HTML:
            return None
        key = page_object_key(plan.objects, response.url)
        await self._blobs.put(key, fetched.body, {"Content-Type": response.media_type})
        return key
