"""Markdown of a run's pages: a file for each page, with its URL, title and time of fetching in front."""

import re
from datetime import UTC, datetime
from hashlib import sha256

import msgspec

from longline.model.urls.url import parse, target
from longline.ports.exports import Export
from longline.services.archive.parsed_pages import ParsedPage, ParsedPages, Progress

FOLDER = "markdown"
PARSER = "markdown"
"""Name of the parser whose items are written."""

MAX_NAME_CHARS = 80
"""Characters of a URL's path in the name of its file."""

_UNSAFE = re.compile(r"[^A-Za-z0-9]+")
_UNSAFE_IN_HOST = re.compile(r"[^A-Za-z0-9.]+")


class MarkdownFiles:
    """An export of pages as Markdown. Pages without text, and pages that robots may not index, have no file."""

    def __init__(self, pages: ParsedPages) -> None:
        self._pages = pages

    async def write(self, run_id: int, export: Export, progress: Progress) -> None:
        """Write the pages of a run."""
        async for pages in self._pages.of_run(run_id, {"parser": PARSER}, progress):
            files = [(file_name(page.row.url), text) for page in pages if (text := _document(page))]
            await export.documents(files)


def file_name(url: str) -> str:
    """Return the name of a page's file below the folder of the export: readable, and its own by a part of a hash."""
    found = parse(url)
    words = _UNSAFE.sub("-", target(found.href).removesuffix(".html"))[:MAX_NAME_CHARS].strip("-").lower()
    own = sha256(found.href.encode()).hexdigest()[:12]
    host = _UNSAFE_IN_HOST.sub("-", found.host).strip("-.")
    return f"{FOLDER}/{host or own}/{f'{words}-{own}' if words else own}.md"


def _document(page: ParsedPage) -> str:
    """Return the Markdown of a page below its front matter, which is YAML; an empty text for a page without any."""
    items = [item for item in page.parsed.items if item.kind == "markdown" and item.fields.get("text")]
    if not items:
        return ""
    fetched = datetime.fromtimestamp(page.row.fetched_at / 1000, UTC).isoformat(timespec="seconds")
    facts = {"url": page.row.url, "title": items[0].fields.get("title", ""), "fetched": fetched}
    # A JSON string is a string of YAML too.
    front = "".join(f"{name}: {msgspec.json.encode(value).decode()}\n" for name, value in facts.items())
    return f"---\n{front}---\n\n{items[0].fields['text']}"
