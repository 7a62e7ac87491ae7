"""The site of the race: real documentation pages without links to other sites.

Of each package the pages nearest to its start page are taken. A link that leads to none of them is changed to a host
that no crawler may visit: it is still found, resolved and refused like any link to the outside, and no crawl meets a
404.
"""

import json
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from html import escape, unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from bench.generated import page as generated_page
from bench.packages import CACHE, SITES, Documentation, NoPackage, unpacked

ADDRESSES = tuple(f"127.0.0.{number}" for number in range(1, 9))
ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /*.cgi$\n"

_PLAIN = re.compile(r"/[A-Za-z0-9_./-]+\.html?")
"""Names that every contestant spells alike, so that their fetches can be compared."""

_HREF = re.compile(
    r"""(<(?:a|area|link|i?frame)\b[^>]*?\b(?:href|src)\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE
)
_LARGEST = 512 * 1024
"""No larger page is taken: a single index of megabytes would weigh as much as a hundred pages."""

_OUTSIDE = "http://outside.invalid"
_HERE = "http://here.invalid"


@dataclass(frozen=True)
class Site:
    """The pages of the folder, below each address."""

    folder: str
    origin: str
    starts: dict[str, str]
    pages: dict[str, list[str]]
    bytes: int
    links: int

    @property
    def count(self) -> int:
        """Return the number of pages."""
        return sum(map(len, self.pages.values()))

    def seeds(self, port: int) -> list[str]:
        """Return the start of crawls: one page of each host."""
        return [f"http://{address}:{port}{start}" for address, start in self.starts.items()]

    def hosts(self, port: int) -> list[str]:
        """Return the hosts that crawls stay on."""
        return [f"{address}:{port}" for address in self.starts]

    def described(self) -> str:
        """Describe the site in a sentence."""
        return (
            f"{self.count:,} pages on {len(self.pages)} hosts, {self.bytes / self.count / 1024:.0f} KB "
            f"and {self.links / self.count:.0f} links a page; {self.origin}"
        )


def prepared(pages: int, step: Callable[[str], None] = lambda _: None) -> Site:
    """Return the site of about that many pages; made once, then found in the cache."""
    folder = CACHE / f"closed-{pages}"
    known = folder / "site.json"
    if not known.exists():
        shutil.rmtree(folder, ignore_errors=True)
        site = _real(folder, pages // len(ADDRESSES), step) or _generated(folder, pages // len(ADDRESSES), step)
        known.write_text(json.dumps(asdict(site)))
    return Site(**json.loads(known.read_text()))


def _real(folder: Path, each: int, step: Callable[[str], None]) -> Site | None:
    try:
        for documentation in SITES:
            step(f"unpacking {documentation.package}")
            unpacked(documentation.package)
    except NoPackage as lacking:
        step(f"no packages ({lacking}); generating pages instead")
        return None
    chosen: dict[str, dict[str, str]] = {}
    for address, documentation in zip(ADDRESSES, SITES, strict=True):
        step(f"choosing pages of {documentation.package}")
        chosen[address] = _nearest(documentation, each)
    starts = {address: documentation.start for address, documentation in zip(ADDRESSES, SITES, strict=True)}
    return _written(folder, "real documentation pages", starts, chosen)


def _nearest(documentation: Documentation, limit: int) -> dict[str, str]:
    """Return pages by path, in the order of their distance from the start; bytes are kept as characters."""
    top = unpacked(documentation.package) / documentation.folder
    waiting, seen = deque([documentation.start]), {documentation.start}
    chosen: dict[str, str] = {}
    while waiting and len(chosen) < limit:
        path = waiting.popleft()
        if not _is_page(top / path[1:]):
            continue
        text = (top / path[1:]).read_bytes().decode("latin-1")
        if "<base" in text.lower():  # the base of its links is unknown without a parser
            continue
        chosen[path] = text
        found = [target for target in _targets(path, text) if target not in seen]
        waiting.extend(dict.fromkeys(found))
        seen.update(found)
    return chosen


def _is_page(file: Path) -> bool:
    return file.is_file() and file.stat().st_size <= _LARGEST


def _targets(path: str, text: str) -> Iterator[str]:
    for node in LexborHTMLParser(text.encode("latin-1")).css("a[href]:not([rel~='nofollow' i])"):
        if (target := _target(path, node.attributes.get("href") or "")) is not None:
            yield target


def _target(path: str, href: str) -> str | None:
    """Return the path on this host that a link leads to, if it is one that may be chosen."""
    try:
        parts = urlsplit(urljoin(_HERE + path, href.strip()))
    except ValueError:
        return None
    here = f"{parts.scheme}://{parts.netloc}" == _HERE and not parts.query
    return parts.path if here and _PLAIN.fullmatch(parts.path) else None


def _closed(path: str, text: str, kept: dict[str, str]) -> str:
    """Return the page with every link that leaves the chosen ones changed to the outside host."""

    def turned(match: re.Match[str]) -> str:
        href = unescape(match[2].strip("\"'")).strip()
        whole = urljoin(_HERE + path, href)
        if not whole.startswith(_HERE) or _target(path, href) in kept:
            return match[0]
        return f'{match[1]}"{escape(_OUTSIDE + whole.removeprefix(_HERE))}"'

    return _HREF.sub(turned, text)


def _written(folder: Path, origin: str, starts: dict[str, str], chosen: dict[str, dict[str, str]]) -> Site:
    size = links = 0
    for address, pages in chosen.items():
        for path, text in pages.items():
            body = _closed(path, text, pages).encode("latin-1")
            size, links = size + len(body), links + len(LexborHTMLParser(body).css("a[href]"))
            file = folder / address / path[1:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
        (folder / address / "robots.txt").write_text(ROBOTS)
    return Site(str(folder), origin, starts, {address: sorted(pages) for address, pages in chosen.items()}, size, links)


def _generated(folder: Path, each: int, step: Callable[[str], None]) -> Site:
    chosen = {}
    for number, address in enumerate(ADDRESSES):
        step(f"generating pages of {address}")
        chosen[address] = {f"/page-{n}.html": generated_page(number, n, each) for n in range(each)}
    starts = dict.fromkeys(ADDRESSES, "/page-0.html")
    return _written(folder, "generated pages (there is no apt-get here)", starts, chosen)
