"""Pages of items: search by words, and one item with its versions and prices."""

from typing import Annotated, Any

import msgspec

from longline.console.drawing.price_plot import price_plot
from longline.console.pages import Clock, Pages
from longline.console.visitor import Visitor
from longline.model.search.query import Filters, Sort
from longline.services.archive.item_history import ItemHistories
from longline.services.search import Searches, SearchRequest
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 20
MAX_START = 1000


class ItemPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of items."""

    pages: Pages
    searches: Searches
    histories: ItemHistories
    now: Clock


class ItemListQuery(msgspec.Struct, frozen=True):
    """The words that are searched, and the place in the list."""

    text: Annotated[str, msgspec.Meta(max_length=500)] = ""
    kind: Annotated[str, msgspec.Meta(max_length=100)] = ""
    start: Annotated[int, msgspec.Meta(ge=0, le=MAX_START)] = 0

    @property
    def asked(self) -> SearchRequest:
        """The query: the best first, or without words the newest."""
        filters = Filters(kind=self.kind.strip() or None)
        sort: Sort = "score" if self.text.strip() else "created"
        return SearchRequest(self.text, filters, sort, limit=PAGE_SIZE, offset=self.start)


@operation("GET", "/console/items", "Search items", access="reader")
async def show_items(services: ItemPageServices, query: ItemListQuery, identity: Visitor) -> ApiResponse[Any]:
    found = await services.searches.find(query.asked)
    following = query.start + PAGE_SIZE
    return services.pages.page(
        "items/list.html",
        identity,
        section="items",
        found=found,
        filters={"text": query.text, "kind": query.kind},
        start=query.start,
        older=following if len(found.hits) == PAGE_SIZE and following <= MAX_START else None,
    )


@operation("GET", "/console/items/{item_id}", "Show an item", access="reader")
async def show_item(services: ItemPageServices, item_id: int, identity: Visitor) -> ApiResponse[Any]:
    item = await services.histories.get(item_id)
    versions = await services.histories.versions(item_id)
    prices = [(one.updated_at, one.price) for one in reversed(versions) if one.price is not None]
    return services.pages.page(
        "items/page.html",
        identity,
        section="items",
        item=item,
        fields=msgspec.json.decode(item.fields, type=dict[str, Any]),
        versions=versions,
        plot=price_plot(prices, services.now()),
    )


ITEM_PAGES = (show_items, show_item)
