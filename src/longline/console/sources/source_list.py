"""The list of sources: by name, with health and uses; a source is enabled and disabled from its page."""

from typing import Annotated, Any, Literal

import msgspec

from longline.console.paging import page_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.sources.source import SourceQuery
from longline.model.sources.source_uses import decode_uses
from longline.services.sources.source_overview import SourceOverviews
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_TEXT_CHARS = 500

Show = Literal["enabled", "disabled", "failing"]


class SourceListServices(msgspec.Struct, frozen=True):
    """The services behind the list of sources."""

    pages: Pages
    sources: SourceOverviews


class SourceFilterQuery(msgspec.Struct, frozen=True):
    """The filters of the list, and the place in it."""

    show: Show | None = None
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)] = ""
    after: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARS)] = ""

    @property
    def choice(self) -> SourceQuery:
        """The sources that are chosen."""
        return SourceQuery(
            search=self.text.strip() or None,
            enabled={"enabled": True, "disabled": False}.get(self.show or ""),
            failing=True if self.show == "failing" else None,
            after=self.after or None,
        )


@operation("GET", "/console/sources", "Show sources", access="reader")
async def show_sources(services: SourceListServices, query: SourceFilterQuery, identity: Visitor) -> ApiResponse[Any]:
    found = await services.sources.find(query.choice, PAGE_SIZE + 1)
    shown, last = page_of(found, PAGE_SIZE)
    return services.pages.page(
        "sources/list.html",
        identity,
        section="sources",
        sources=[(row, sorted(decode_uses(row.uses))) for row in shown],
        filters={"show": query.show, "text": query.text},
        older=None if last is None else last.name,
    )


SOURCE_LIST = (show_sources,)
