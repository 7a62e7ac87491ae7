"""The fetches of a lap, counted in the server's log."""

import json
import time
from collections import Counter
from pathlib import Path

Fetch = tuple[str, int, str]
"""Address, status and path."""

QUIET = 0.1
"""Seconds without a line after which a log counts as complete."""


class FetchLog:
    """A server's log from this moment on."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start = self._at = file.stat().st_size
        self._lines = 0

    def count(self) -> int:
        """Return the number of requests so far; cheap enough to be called all the time."""
        with self._file.open("rb") as log:
            log.seek(self._at)
            while piece := log.read(1 << 20):
                self._lines += piece.count(b"\n")
                self._at += len(piece)
        return self._lines

    def fetches(self) -> Counter[Fetch]:
        """Return every request with its number, once the log does not grow any more."""
        # A server may write its line after the client has got the page.
        before = -1
        while (now := self.count()) != before:
            before = now
            time.sleep(QUIET)
        with self._file.open("rb") as log:
            log.seek(self._start)
            return Counter(_fetch(line) for line in log.read().decode(errors="replace").splitlines())


def _fetch(line: str) -> Fetch:
    if line.startswith("{"):
        said = json.loads(line)
        return said["request"]["host"].partition(":")[0], said["status"], said["request"]["uri"]
    address, status, path = line.split(" ", 2)
    return address, int(status), path


def faults(fetches: Counter[Fetch], pages: dict[str, list[str]]) -> list[str]:
    """Return the differences between a crawl and one request for each page; robots.txt does not count."""
    wanted = {(address, 200, path) for address, paths in pages.items() for path in paths}
    seen = Counter({fetch: count for fetch, count in fetches.items() if fetch[2] != "/robots.txt"})
    found = {
        "pages not fetched": sum(fetch not in seen for fetch in wanted),
        "pages fetched more than once": sum(seen[fetch] > 1 for fetch in wanted),
        "requests for something else": sum(count for fetch, count in seen.items() if fetch not in wanted),
    }
    return [f"{count} {what}" for what, count in found.items() if count]
