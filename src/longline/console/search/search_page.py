"""The page of the search box: runs, sources, tasks and items that fit a text."""

from typing import Annotated, Any

import msgspec

from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.services.search.global_search import MAX_FOUND, Finder
from longline.surfaces.operation import ApiResponse, operation

MAX_TEXT_CHARS = 500


class SearchPageServices(msgspec.Struct, frozen=True):
    """The services behind the search."""

    pages: Pages
    finder: Finder


class SearchPageQuery(msgspec.Struct, frozen=True):
    """The text to search for."""

    q: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)] = ""


@operation("GET", "/console/search", "Search everything", access="reader")
async def show_search(services: SearchPageServices, query: SearchPageQuery, identity: Visitor) -> ApiResponse[Any]:
    found = await services.finder.find(query.q)
    return services.pages.page("search/results.html", identity, section="search", found=found, most=MAX_FOUND)


SEARCH_PAGE = (show_search,)
