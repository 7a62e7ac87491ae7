"""Pages as objects: files that a run fetches as pages, such as images, each under a key made of its URL."""

import hashlib
import re

from longline.engine.fetch.fetcher import Fetched
from longline.model.frontier.reasons import OK
from longline.model.runs.plan import CrawlPlan
from longline.model.url import parse
from longline.ports.blobs import Blobs

MAX_KEY_CHARS = 400
_UNSAFE = re.compile(r"[^A-Za-z0-9._/-]")
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
        key = object_key(plan.objects, response.url)
        await self._blobs.put(key, fetched.body, {"Content-Type": response.media_type})
        return key


def object_key(begin: str, url: str) -> str:
    """Return the key of the object of a URL: its host and path, and a digest where these are not the whole URL."""
    place = parse(url)
    plain = f"{place.host.replace(':', '_')}{place.href.split(place.host, 1)[1]}"
    path = _UNSAFE.sub("_", plain.partition("?")[0]).replace("..", "_").rstrip("/")
    if path == plain and "//" not in path and len(path) <= MAX_KEY_CHARS:
        return f"{begin}/{path}"
    folder, slash, name = path[:MAX_KEY_CHARS].replace("//", "/_/").rpartition("/")
    return f"{begin}/{folder}{slash}{hashlib.sha256(url.encode()).hexdigest()[:16]}-{name}"
