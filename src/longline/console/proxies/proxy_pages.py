"""Pages of proxies: their health at each source, and the switch of each."""

from typing import Any

import msgspec

from longline.console.actions import acted, long_texts
from longline.console.paging import page_of
from longline.console.proxies.health_matrix import MATRIX_KEY, matrix_cell
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.errors import BadInput, Conflict
from longline.model.proxies.proxy import ProxyFilter
from longline.services.proxies.pools import Pools
from longline.services.proxies.proxies import DuplicateProxy, Proxies
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.sources.source_overview import SourceOverviews
from longline.surfaces.operation import ApiResponse, operation

PAGE_SIZE = 50
MAX_SOURCES = 12
MAX_URI_CHARS = 2000


class ProxyPageServices(msgspec.Struct, frozen=True):
    """The services behind the pages of proxies."""

    pages: Pages
    proxies: Proxies
    figures: ProxyFigures
    pools: Pools
    sources: SourceOverviews


class ShownProxiesQuery(msgspec.Struct, frozen=True):
    """The filter of the list, and the place in it."""

    active: bool | None = None
    after: int = 0


class ProxyForm(msgspec.Struct, frozen=True):
    """The form that registers a proxy, given as a URI."""

    uri: str = ""


async def _listed(
    services: ProxyPageServices, query: ShownProxiesQuery, visitor: Visitor, given: str = "", problem: str = ""
) -> ApiResponse[Any]:
    found = await services.proxies.find(ProxyFilter(active=query.active), limit=PAGE_SIZE + 1, after=query.after)
    shown, last = page_of(found, PAGE_SIZE)
    matrix = await services.figures.by_source([one.id for one in shown], MAX_SOURCES)
    return services.pages.page(
        "proxies/list.html",
        visitor,
        section="proxies",
        is_refusal=bool(problem),
        proxies=shown,
        pools=await services.pools.find(),
        matrix_key=MATRIX_KEY,
        matrix_cell=matrix_cell,
        columns=list((await services.sources.rows(matrix)).values()),
        cells={(source_id, one.proxy_id): one for source_id, ones in matrix.items() for one in ones},
        filters={"active": query.active},
        older=None if last is None else last.id,
        given=given,
        problem=problem,
    )


@operation("GET", "/console/proxies", "Show proxies", access="reader")
async def show_proxies(services: ProxyPageServices, query: ShownProxiesQuery, identity: Visitor) -> ApiResponse[Any]:
    return await _listed(services, query, identity)


@operation("POST", "/console/proxies", "Register a proxy", access="action", action="proxy.create")
async def add_proxy(services: ProxyPageServices, body: ProxyForm, identity: Visitor) -> ApiResponse[Any]:
    try:
        if long_texts(body, {"uri": MAX_URI_CHARS}):
            raise BadInput("the URI is too long")
        made = await services.proxies.add(body.uri.strip())
    except (BadInput, Conflict, DuplicateProxy) as error:
        return await _listed(services, ShownProxiesQuery(), identity, body.uri, str(error))
    return acted(f"/console/proxies/{made.id}", "The proxy is registered.")


@operation("GET", "/console/proxies/{proxy_id}", "Show a proxy", access="reader")
async def show_proxy(services: ProxyPageServices, proxy_id: int, identity: Visitor) -> ApiResponse[Any]:
    proxy = await services.proxies.get(proxy_id)
    uses = await services.figures.by_source([proxy_id], PAGE_SIZE)
    sources = await services.sources.rows(uses)
    return services.pages.page(
        "proxies/page.html",
        identity,
        section="proxies",
        proxy=proxy,
        uses=[(sources[source_id], one) for source_id, ones in uses.items() for one in ones if source_id in sources],
        pools=[pool for pool in await services.pools.find() if proxy_id in pool.proxies],
    )


@operation("POST", "/console/proxies/{proxy_id}/enable", "Enable a proxy", access="action", action="proxy.enable")
async def enable_proxy(services: ProxyPageServices, proxy_id: int) -> ApiResponse[Any]:
    await services.proxies.enable(proxy_id)
    return acted(f"/console/proxies/{proxy_id}", "The proxy is enabled.")


@operation("POST", "/console/proxies/{proxy_id}/disable", "Disable a proxy", access="action", action="proxy.disable")
async def disable_proxy(services: ProxyPageServices, proxy_id: int) -> ApiResponse[Any]:
    await services.proxies.disable(proxy_id)
    return acted(f"/console/proxies/{proxy_id}", "The proxy is disabled: no new request goes through it.")


PROXY_PAGES = (show_proxies, add_proxy, show_proxy, enable_proxy, disable_proxy)
