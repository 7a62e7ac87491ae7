"""The proxies of a source: registered ones are assigned to it, and taken away."""

from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.template_filters import counted
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.errors import BadInput
from longline.model.proxies.proxy import ProxyFilter
from longline.model.whole_number import whole_numbers
from longline.services.proxies.proxies import Proxies
from longline.services.sources.sources import Sources
from longline.surfaces.operation import ApiResponse, operation

MAX_PROXIES = 200
"""Largest number of proxies to choose from."""


class SourceProxyServices(msgspec.Struct, frozen=True):
    """The services behind the choice of proxies."""

    pages: Pages
    sources: Sources
    proxies: Proxies


class ChosenProxies(msgspec.Struct, frozen=True):
    """Chosen proxies, as numbers with spaces or commas between them, and their priority at the source."""

    proxies: Annotated[str, msgspec.Meta(max_length=5000)] = ""
    priority: Annotated[int, msgspec.Meta(ge=1, le=10)] = 5

    def ids(self) -> list[int]:
        """Return the chosen proxies; raise `BadInput` for none, for too many, and for text that is no number."""
        found = whole_numbers(self.proxies, MAX_PROXIES)
        if found is None:
            raise BadInput(f"choose from 1 to {MAX_PROXIES} proxies")
        return found


@operation("GET", "/console/sources/{source_id}/proxies", "Choose proxies of a source", access="reader")
async def show_choice(services: SourceProxyServices, source_id: int, identity: Visitor) -> ApiResponse[Any]:
    source = await services.sources.get(source_id)
    mapped = {one.proxy_id for one in await services.proxies.mappings(source_id)}
    found = await services.proxies.find(ProxyFilter(active=True), limit=MAX_PROXIES)
    return services.pages.page(
        "sources/proxies.html",
        identity,
        section="sources",
        source=source,
        proxies=[one for one in found if one.id not in mapped],
        mapped=[one for one in found if one.id in mapped],
        most=MAX_PROXIES,
    )


@operation(
    "POST", "/console/sources/{source_id}/proxies", "Assign proxies to a source", access="action", action="proxy.assign"
)
async def assign_proxies(services: SourceProxyServices, source_id: int, body: ChosenProxies) -> ApiResponse[Any]:
    chosen = body.ids()
    await services.proxies.assign(source_id, chosen, body.priority)
    return acted(f"/console/sources/{source_id}", f"{counted(len(chosen), 'proxy')} assigned.")


@operation(
    "POST",
    "/console/sources/{source_id}/proxies/take",
    "Take proxies from a source",
    access="action",
    action="proxy.unassign",
)
async def take_proxies(services: SourceProxyServices, source_id: int, body: ChosenProxies) -> ApiResponse[Any]:
    chosen = body.ids()
    for proxy_id in chosen:
        await services.proxies.unassign(source_id, proxy_id)
    return acted(f"/console/sources/{source_id}", f"{counted(len(chosen), 'proxy')} taken away.")


SOURCE_PROXIES = (show_choice, assign_proxies, take_proxies)
