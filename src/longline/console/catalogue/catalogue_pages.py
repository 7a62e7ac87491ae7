"""Pages of the catalogue: series, their targets on sources, and the runs that crawl them."""

from typing import Annotated, Any

import msgspec

from longline.console.paging import page_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.services.series.series import Series
from longline.services.series.series_runs import SeriesRuns
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_RUNS = 20


class CataloguePageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of the catalogue."""

    pages: Pages
    series: Series
    runs: SeriesRuns


class SeriesPageQuery(msgspec.Struct, frozen=True):
    """The filter of the list, and the place in it."""

    text: Annotated[str, msgspec.Meta(max_length=200)] = ""
    after: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    id: Annotated[str, msgspec.Meta(max_length=100)] = ""


@operation("GET", "/console/catalogue", "Show series", access="reader")
async def show_series_list(
    services: CataloguePageServices, query: SeriesPageQuery, identity: Visitor
) -> ApiResponse[Any]:
    found = await services.series.after(query.text.strip() or None, (query.after, query.id), PAGE_SIZE + 1)
    shown, last = page_of(found, PAGE_SIZE)
    runs = await services.runs.newest(MAX_RUNS)
    return services.pages.page(
        "catalogue/list.html",
        identity,
        section="catalogue",
        series=shown,
        runs=runs,
        sources=await services.series.sources({one.run.source_id for one in runs if one.run.source_id}),
        filters={"text": query.text},
        older=None if last is None else {"after": last.title, "id": last.id},
    )


@operation("GET", "/console/catalogue/{series_id}", "Show a series", access="reader")
async def show_series(services: CataloguePageServices, series_id: str, identity: Visitor) -> ApiResponse[Any]:
    row = await services.series.get(series_id)
    targets = await services.series.targets(series_id)
    runs = await services.runs.newest(MAX_RUNS, series_id)
    sources = {target.source_id for target in targets} | {one.run.source_id for one in runs if one.run.source_id}
    return services.pages.page(
        "catalogue/page.html",
        identity,
        section="catalogue",
        series=row,
        targets=targets,
        runs=runs,
        most=MAX_RUNS,
        sources=await services.series.sources(sources),
    )


CATALOGUE_PAGES = (show_series_list, show_series)
