"""Scope and credentials of `longline crawl`: its options as a plan."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import msgspec
import typer

from longline.model.errors import BadInput
from longline.model.feeds.sitemap import DEFAULT_PATHS, MAX_LEVELS, may_be_sitemap
from longline.model.fetch.cookie_file import read_cookie_file
from longline.model.fetch.cookies import Cookie
from longline.model.fetch.credentials import Credentials, parse_cookie, parse_header
from longline.model.patterns import MAX_PATTERNS
from longline.model.runs.crawl_bounds import UNBOUNDED_DEPTH, CrawlBounds
from longline.model.runs.url_globs import pattern_of_glob
from longline.model.urls.link_resolution import join
from longline.model.urls.url import Url, parse
from longline.model.whole_number import whole_number
from longline.services.crawls.crawl_options import COOKIES, HEADERS, LIMIT, OFFSITE, site_hosts

T = TypeVar("T")

NO_BOUND = "none"
"""Value of an option that takes a bound away."""

STDIN = "-"
MAX_SEEDS = 100_000
"""Largest number of start URLs of one crawl, which are all stored in its plan."""

MAX_NAMED_LINES = 5
"""Largest number of bad lines that an error names."""


def _number(option: str, least: int) -> Callable[[str], int]:
    """Return a reader of a number from `least` on, or of the word that takes the bound away."""

    def read(text: str) -> int:
        if text.strip().lower() == NO_BOUND:
            return UNBOUNDED_DEPTH
        number = whole_number(text.strip())
        if number is None or number < least:
            raise typer.BadParameter(f"{option} is a number from {least} on, or {NO_BOUND}")
        return number

    return read


OPTIONS: Mapping[str, tuple[object, object]] = MappingProxyType(
    {
        "urls": (
            list[str] | None,
            typer.Argument(help="URLs to start from; the first one names the crawl.", show_default=False),
        ),
        "seeds": (
            str | None,
            typer.Option(
                help="File of start URLs, one a line; - for the standard input.", show_default=False, metavar="FILE"
            ),
        ),
        "sitemap": (
            bool,
            typer.Option(
                "--sitemap",
                help="Fetch only pages that sitemaps list: the start URL if it is a sitemap, else those of its site.",
            ),
        ),
        "depth": (
            int | None,
            typer.Option(
                help="Longest path of links from a start URL; none, which is the default, for any.",
                show_default=False,
                metavar="NUMBER",
                parser=_number("--depth", 0),
            ),
        ),
        "limit": (
            int | None,
            typer.Option(
                help="Maximum number of pages; none, which is the default, for any.",
                show_default=False,
                metavar="NUMBER",
                parser=_number("--limit", 1),
            ),
        ),
        "include": (
            list[str] | None,
            typer.Option(
                help="Follow only links with this path, URL or glob, as /blog or '*/item-*'; several are alternatives,"
                " none for any. Start URLs are always fetched.",
                show_default=False,
                metavar="GLOB",
            ),
        ),
        "exclude": (
            list[str] | None,
            typer.Option(
                help="Do not fetch links with this path, URL or glob, even if included; none for no exclusion.",
                show_default=False,
                metavar="GLOB",
            ),
        ),
        "offsite": (
            bool | None,
            typer.Option("--offsite/--no-offsite", help="Follow links to other hosts as well.", show_default=False),
        ),
        "header": (
            list[str] | None,
            typer.Option(
                help="Header 'Name: value' of requests to the sites of the start URLs.",
                show_default=False,
                metavar="HEADER",
            ),
        ),
        "cookie": (
            list[str] | None,
            typer.Option(
                help="Cookie name=value for the hosts of the start URLs.", show_default=False, metavar="COOKIE"
            ),
        ),
        "cookies": (
            Path | None,
            typer.Option(help="Cookie file in the Netscape format.", show_default=False, metavar="FILE"),
        ),
    }
)
"""Type and description of each option."""


def takes_scope(command: Callable[..., T]) -> Callable[..., T]:
    """Add the options of scope and credentials to a command, and pass them as its second argument."""
    loaded, _, *own = inspect.signature(command).parameters.values()

    @functools.wraps(command)
    def called(loaded: object, **given: Any) -> T:
        scope = ScopeArguments.of({name: given.pop(name) for name in OPTIONS})
        return command(loaded, scope, **given)

    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[kind, option],
        )
        for name, (kind, option) in OPTIONS.items()
    ]
    vars(called)["__signature__"] = inspect.Signature(
        [loaded, *added, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own)]
    )
    return called


class ScopeArguments(msgspec.Struct, frozen=True):
    """The options of a crawl's scope and credentials; None and empty for an option that is not given."""

    urls: tuple[str, ...] = ()
    depth: int | None = None
    limit: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    seeds: str | None = None
    sitemap: bool = False
    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    cookie_file: Path | None = None
    offsite: bool | None = None

    def __repr__(self) -> str:
        return f"ScopeArguments({self.urls!r})"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "ScopeArguments":
        """Return the values of the command line, by the names of the options."""
        return cls(
            urls=tuple(given["urls"] or ()),
            depth=given["depth"],
            limit=given["limit"],
            include=tuple(given["include"] or ()),
            exclude=tuple(given["exclude"] or ()),
            seeds=given["seeds"],
            sitemap=given["sitemap"],
            headers=tuple(given["header"] or ()),
            cookies=tuple(given["cookie"] or ()),
            cookie_file=given["cookies"],
            offsite=given["offsite"],
        )


class Scope(msgspec.Struct, frozen=True):
    """The scope of a crawl: its seeds and bounds, its page limit, its credentials, and the options that were given."""

    seeds: tuple[Url, ...]
    bounds: CrawlBounds
    limit: int | None
    credentials: Credentials
    given: frozenset[str]


def read_scope(arguments: ScopeArguments) -> Scope:
    """Return the scope of the arguments; raise `BadInput` for an argument that cannot be used."""
    urls = tuple(dict.fromkeys(_start_urls(arguments)))
    if not urls:
        raise BadInput("a crawl needs a URL to start from, or a file of them with --seeds")
    if len(urls) > MAX_SEEDS:
        raise BadInput(f"a crawl has at most {MAX_SEEDS:,} start URLs; split the list of {len(urls):,} into several")
    seeds = tuple(url for one in urls for url in (_sitemaps(one) if arguments.sitemap else (one,)))
    return Scope(
        seeds,
        _bounds(arguments, seeds),
        None if arguments.limit == UNBOUNDED_DEPTH else arguments.limit,
        _credentials(arguments, seeds),
        frozenset(_given(arguments)),
    )


def _given(arguments: ScopeArguments) -> Iterator[str]:
    for name in ("depth", LIMIT, "include", "exclude", HEADERS):
        if getattr(arguments, name) not in (None, ()):
            yield name
    if arguments.sitemap:
        yield "sitemap"
    if arguments.cookies or arguments.cookie_file:
        yield COOKIES
    if arguments.offsite is not None:
        yield OFFSITE


def _bounds(arguments: ScopeArguments, seeds: Sequence[Url]) -> CrawlBounds:
    # An index of sitemaps adds to the depth, and indexes could list indexes without end.
    deepest = MAX_LEVELS if arguments.sitemap else UNBOUNDED_DEPTH
    return CrawlBounds(
        max_depth=deepest if arguments.depth is None else arguments.depth,
        hosts=() if arguments.offsite else site_hosts(tuple(url.href for url in seeds)),
        include=_patterns("--include", arguments.include),
        exclude=_patterns("--exclude", arguments.exclude),
        sitemaps=arguments.sitemap,
        sitemap_only=arguments.sitemap,
        keep_refused=True,
    )


def _patterns(option: str, globs: Sequence[str]) -> tuple[str, ...]:
    if list(globs) == [NO_BOUND]:
        return ()
    if len(globs) > MAX_PATTERNS:
        raise BadInput(f"{option} is given {len(globs)} times; at most {MAX_PATTERNS} patterns are possible")
    try:
        return tuple(map(pattern_of_glob, globs))
    except BadInput as bad:
        raise BadInput(f"{option}: {bad}") from None


def _start_urls(arguments: ScopeArguments) -> Iterator[Url]:
    yield from map(parse, arguments.urls)
    if arguments.seeds is not None:
        name = "standard input" if arguments.seeds == STDIN else arguments.seeds
        yield from read_seeds(_text(arguments.seeds, "--seeds"), name)


def _text(place: str, option: str) -> str:
    try:
        return sys.stdin.read() if place == STDIN else Path(place).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{option}: {place} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{option}: {place} is no text in UTF-8") from None


def read_seeds(text: str, name: str) -> list[Url]:
    """Return the URLs of a file called `name`, one a line; lines that begin with # and empty lines do not count."""
    found, bad = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            found.append(parse(line.strip()))
        except BadInput as error:
            bad.append(f"line {number}: {error}")
    if bad:
        more = f"; and {len(bad) - MAX_NAMED_LINES} more" if len(bad) > MAX_NAMED_LINES else ""
        raise BadInput(f"{name}: {'; '.join(bad[:MAX_NAMED_LINES])}{more}")
    return found


def _sitemaps(url: Url) -> tuple[Url, ...]:
    """Return a URL that is a sitemap by its name, else the usual place of the sitemap of its site."""
    path = urlsplit(url.href).path
    if may_be_sitemap(url.href) or path.endswith(".txt"):
        return (url,)
    found = join(url.href, DEFAULT_PATHS[0])
    return (parse(found),) if found else ()


def _credentials(arguments: ScopeArguments, seeds: Sequence[Url]) -> Credentials:
    headers = tuple(map(parse_header, arguments.headers))
    hosts = {(url.scheme, url.host): url for url in seeds}.values()
    cookies = [parse_cookie(text, url) for text in arguments.cookies for url in hosts]
    if arguments.cookie_file is not None:
        name = str(arguments.cookie_file)
        file = read_cookie_file(_text(name, "--cookies"), name)
        cookies += file if arguments.offsite else _of_sites(file, {host for url in seeds for host in _names(url)})
    return Credentials(headers, tuple(cookies))


def _names(url: Url) -> Iterable[str]:
    return (parse(f"https://{host}/").hostname for host in site_hosts((url.href,)))


def _of_sites(cookies: Iterable[Cookie], hostnames: set[str]) -> list[Cookie]:
    """Return the cookies that a host gets; a browser's file has those of all sites that its owner visits."""
    return [cookie for cookie in cookies if any(cookie.belongs_to(name) for name in hostnames)]
