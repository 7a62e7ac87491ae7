"""The tools of the Model Context Protocol server: search, pages, URLs, items, and crawls where they are allowed."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from longline import __version__
from longline.model.errors import LonglineError
from longline.model.frontier.fate import UrlFilters
from longline.model.search.item import RunItem
from longline.model.search.query import Filters
from longline.services.archive.pages import ArchivedPage
from longline.services.crawls.crawl_loop import CrawlResult
from longline.services.frontier.url_fates import UrlOut
from longline.services.search.item_search import SearchPage, SearchRequest
from longline.surfaces.mcp import answers

INSTRUCTIONS = """Longline crawls websites and keeps every page. `search` finds items by their text, `page` reads an
archived page as Markdown, `urls` lists the fate of every URL of a crawl, and `items` lists structured results. Nothing
is fetched by these tools; `crawl`, where it is offered, fetches the pages of a site politely."""

MAX_CRAWL_PAGES = 1000
"""Largest number of pages of one crawl."""

Progress: TypeAlias = Callable[[int, int], Awaitable[None]]
Run = Annotated[int | None, Field(description="Number of the run; the last run if not given.")]
Limit = Annotated[int, Field(ge=1, le=1000, description="Maximum number of results.")]

PROGRESS_INTERVAL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """The crawl of a site that a client wants."""

    url: str
    pages: int
    depth: int | None


@dataclass(frozen=True, slots=True)
class McpServices:
    """The services behind the tools; `crawl` is None for a server that only reads.

    `urls` and `items` return the number of the run with their rows.
    """

    search: Callable[[SearchRequest], Awaitable[SearchPage]]
    page: Callable[[str], Awaitable[ArchivedPage]]
    urls: Callable[[int | None, UrlFilters, int], Awaitable[tuple[int, list[UrlOut]]]]
    items: Callable[[int | None, int, int], Awaitable[tuple[int, list[RunItem]]]]
    crawl: Callable[[CrawlOrder, Progress], Awaitable[CrawlResult]] | None = None


def build_server(services: McpServices) -> MCPServer[Any]:
    """Return the server with its tools."""
    server = MCPServer[Any]("longline", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    tools = Tools(services)
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (tools.search, tools.page, tools.urls, tools.items):
        server.add_tool(tool, annotations=reading)
    if services.crawl is not None:
        server.add_tool(tools.crawl, annotations=ToolAnnotations(read_only_hint=False, open_world_hint=True))
    return server


class Tools:
    """The tools. The docstring of each is the description that clients read."""

    def __init__(self, services: McpServices) -> None:
        self._services = services

    async def search(
        self,
        words: Annotated[str, Field(description='Words, "a phrase", -without, begin*.')],
        kind: Annotated[str | None, Field(description="Only items of this kind.")] = None,
        run: Annotated[int | None, Field(description="Only items of this run.")] = None,
        limit: Limit = 10,
    ) -> answers.SearchAnswer:
        """Search the text of crawled items, the best match first."""
        with _told_to_the_client():
            asked = SearchRequest(words, Filters(kind=kind, run_id=run), limit=limit)
            return answers.search_out(await self._services.search(asked))

    async def page(
        self,
        url: Annotated[str, Field(description="URL of a crawled page.")],
        offset: Annotated[int, Field(ge=0, description="First character, for the rest of a long page.")] = 0,
    ) -> answers.PageAnswer:
        """Return the newest archived version of a page as Markdown: headings, lists, tables, code and links."""
        with _told_to_the_client():
            return answers.page_out(await self._services.page(url), offset)

    async def urls(
        self,
        run: Run = None,
        fate: Annotated[str | None, Field(description="completed, failed, skipped, cancelled or open.")] = None,
        reason: Annotated[str | None, Field(description="Only URLs with this reason, for example http_5xx.")] = None,
        host: Annotated[str | None, Field(description="Only URLs of this host.")] = None,
        limit: Limit = 100,
    ) -> answers.UrlsAnswer:
        """List the URLs of a crawl with fate, reason, status, attempts and the page that links to each."""
        with _told_to_the_client():
            run_id, rows = await self._services.urls(run, UrlFilters(fate, reason, host), limit + 1)
            return answers.urls_out(run_id, rows, limit)

    async def items(
        self,
        run: Run = None,
        after: Annotated[int, Field(ge=0, description="`next_position` of an earlier answer.")] = 0,
        limit: Limit = 50,
    ) -> answers.ItemsAnswer:
        """List the structured results of a crawl with the fields that its parser gave them."""
        with _told_to_the_client():
            run_id, rows = await self._services.items(run, after, limit + 1)
            return answers.items_out(run_id, rows, limit)

    async def crawl(
        self,
        url: Annotated[str, Field(description="URL to start from; links to other hosts are not followed.")],
        context: Context[Any, Any],
        pages: Annotated[int, Field(ge=1, le=MAX_CRAWL_PAGES, description="Maximum number of pages.")] = 50,
        depth: Annotated[int | None, Field(ge=0, description="Longest path of links from the start.")] = None,
    ) -> answers.CrawlAnswer:
        """Crawl a site politely and keep its pages; robots.txt and delays are obeyed, inside addresses are refused."""
        if self._services.crawl is None:
            raise ToolError("this server only reads")

        async def progress(done: int, total: int) -> None:
            await context.report_progress(done, total, f"{done} of {total} URLs")

        with _told_to_the_client():
            return answers.crawl_out(await self._services.crawl(CrawlOrder(url, pages, depth), progress))


@contextmanager
def _told_to_the_client() -> Iterator[None]:
    """Turn expected failures into answers that the client reads."""
    try:
        yield
    except LonglineError as error:
        raise ToolError(str(error)) from error
