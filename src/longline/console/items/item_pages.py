"""Pages of items: search by words, and one item with its versions and prices."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from longline.console.drawing.price_plot import price_plot, price_tip
from longline.console.paging import page_of
from longline.console.template_filters import counted
from longline.console.template_rendering import Clock, Pages
from longline.console.visitor import Visitor
from longline.model.search.item_changes import ItemVersion
from longline.model.search.query import Filters
from longline.services.search.item_history import ItemHistories
from longline.services.search.item_search import Searches, SearchRequest
from longline.services.sources.source_overview import SourceOverviews
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 20
MAX_START = 1000
MAX_CURRENCY_CHARS = 8


class _Money(msgspec.Struct, frozen=True):
    """The field of an item with the currency of its price."""

    currency: Any = None


def currency_of(fields: str) -> str:
    """Return the code of the currency of an item, such as EUR; nothing for an item without one."""
    try:
        found = msgspec.json.decode(fields, type=_Money).currency
    except msgspec.DecodeError:
        return ""
    return found[:MAX_CURRENCY_CHARS] if isinstance(found, str) else ""


class ItemPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of items."""

    pages: Pages
    searches: Searches
    histories: ItemHistories
    sources: SourceOverviews
    now: Clock


class ItemListQuery(msgspec.Struct, frozen=True):
    """The words that are searched, or the run whose items are listed, and the place in the list."""

    text: Annotated[str, msgspec.Meta(max_length=500)] = ""
    kind: Annotated[str, msgspec.Meta(max_length=100)] = ""
    start: Annotated[int, msgspec.Meta(ge=0, le=MAX_START)] = 0
    before: int | None = None
    run: int | None = None
    after: int = 0

    @property
    def asked(self) -> SearchRequest:
        """The query for words, the best match first."""
        filters = Filters(kind=self.kind.strip() or None)
        return SearchRequest(self.text, filters, limit=PAGE_SIZE, offset=self.start)


@operation("GET", "/console/items", "Search items", access="reader")
async def show_items(services: ItemPageServices, query: ItemListQuery, identity: Visitor) -> ApiResponse[Any]:
    read = _of_run if query.run is not None else _best if query.text.strip() else _newest
    shown = await read(services, query)
    filters = {"text": query.text, "kind": query.kind, "run": query.run}
    return services.pages.page(
        "items/list.html", identity, section="items", filters=filters, currency_of=currency_of, **shown
    )


async def _best(services: ItemPageServices, query: ItemListQuery) -> dict[str, Any]:
    """Return the best matches; the order is that of scores, which have no key, so that the list has an end."""
    found = await services.searches.find(query.asked)
    following = query.start + PAGE_SIZE
    has_more = len(found.hits) == PAGE_SIZE and following <= MAX_START
    shown = f"{query.start + 1 if found.hits else 0} to {query.start + len(found.hits)} of {found.total:,}"
    return {
        "hits": found.hits,
        "meant": found.meant,
        "about": f"{shown}{'+' if found.more else ''}, the best match first.",
        "older": {"start": following} if has_more else None,
    }


async def _of_run(services: ItemPageServices, query: ItemListQuery) -> dict[str, Any]:
    """Return the items of a run, paged by their positions."""
    assert query.run is not None
    found = await services.searches.of_run(query.run, query.after, PAGE_SIZE + 1)
    shown, last = page_of(found, PAGE_SIZE)
    return {
        "hits": [hit for _, hit in shown],
        "meant": None,
        "about": f"{counted(len(shown), 'item')} of run {query.run:,}, in the order in which they came.",
        "older": None if last is None else {"after": last[0]},
    }


async def _newest(services: ItemPageServices, query: ItemListQuery) -> dict[str, Any]:
    """Return the newest items, paged by key."""
    found = await services.searches.newest(query.kind.strip() or None, query.before, PAGE_SIZE + 1)
    shown, last = page_of(found, PAGE_SIZE)
    return {
        "hits": shown,
        "meant": None,
        "about": f"{counted(len(shown), 'item')}, newest first.",
        "older": None if last is None else {"before": last.item.id},
    }


@operation("GET", "/console/items/{item_id}", "Show an item", access="reader")
async def show_item(services: ItemPageServices, item_id: int, identity: Visitor) -> ApiResponse[Any]:
    item = await services.histories.get(item_id)
    versions = await services.histories.versions(item_id)
    return services.pages.page(
        "items/page.html",
        identity,
        section="items",
        item=item,
        source=(await services.sources.rows([item.source_id])).get(item.source_id),
        fields=msgspec.json.decode(item.fields, type=dict[str, Any]),
        versions=versions,
        **_prices(versions, currency_of(item.fields), services.now()),
    )


def _prices(versions: Sequence[ItemVersion], currency: str, now: int) -> dict[str, Any]:
    """Return the currency and the plot of the prices of an item, and the words about the present one."""
    prices = [(one.updated_at, one.price) for one in reversed(versions) if one.price is not None]
    told = price_tip(*prices[-1], currency) if prices else ""
    return {"currency": currency, "plot": price_plot(prices, now, currency), "told": told}


ITEM_PAGES = (show_items, show_item)
