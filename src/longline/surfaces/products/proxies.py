"""`/api/admin/proxies`: proxies, their figures, and their switches."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.proxies.proxy import ProxyFilter
from longline.services.proxies.proxies import DuplicateProxy, Proxies, ProxyView, SoleProxy
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import errors, examples
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import (
    NO_NUL,
    Money,
    PagedQuery,
    ProxyId,
)
from longline.surfaces.products.proxy_responses import (
    Protocol,
    ProxyBody,
    ProxyDeleted,
    ProxyDetail,
    ProxyStats,
    ProxySwitched,
    proxy_body,
)

PATH = "/api/admin/proxies"
MAX_PER_HOUR = 2**31 - 1

Host = Annotated[str, Meta(min_length=1, max_length=255, description="Host name or IP address, without a scheme.")]
Port = Annotated[int, Meta(ge=1, le=65535, description="TCP port.")]
Protocols = Annotated[Protocol, Meta(description="Protocol of the proxy.")]
Username = Annotated[str, Meta(max_length=100, pattern=NO_NUL, description="Name of the user at the proxy.")]
Password = Annotated[str, Meta(max_length=1000, pattern=NO_NUL, description="Stored encrypted, and never shown.")]
Country = Annotated[str, Meta(pattern="^[A-Za-z]{2}$", description="Country code of two letters.")]
City = Annotated[str, Meta(max_length=100, pattern=NO_NUL, description="City of the proxy.")]
Provider = Annotated[str, Meta(max_length=100, pattern=NO_NUL, description="Name of the provider.")]
Cost = Annotated[Money, Meta(description="Cost of a month, with two decimal places.")]
PerHour = Annotated[int, Meta(ge=0, le=MAX_PER_HOUR, description="Most requests in an hour.")]
IsActive = Annotated[bool, Meta(description="Whether the proxy is used.")]


@dataclass(frozen=True, slots=True)
class ProxyServices:
    """Proxies and their figures."""

    proxies: Proxies
    figures: ProxyFigures


class ProxyRequestBody(msgspec.Struct, frozen=True, kw_only=True):
    """A proxy to register."""

    proxy_url: Host
    proxy_port: Port
    proxy_protocol: Protocols = "http"
    proxy_username: Username | None = None
    proxy_password: Password | None = None
    country_code: Country | None = None
    city: City | None = None
    provider: Provider | None = None
    monthly_cost: Cost | None = None
    max_requests_per_hour: PerHour = 1000
    is_active: IsActive = True

    def address(self) -> SoleProxy:
        """Return the address with its credentials."""
        username, password = self.proxy_username or "", self.proxy_password or ""
        return SoleProxy(self.proxy_protocol, self.proxy_url.strip(), self.proxy_port, username, password)

    def facts(self) -> dict[str, Any]:
        """Return everything else about the proxy."""
        return {
            "country": self.country_code,
            "city": self.city,
            "provider": self.provider,
            "monthly_cost": self.monthly_cost,
            "max_per_hour": self.max_requests_per_hour,
            "active": self.is_active,
        }


class ProxyChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a proxy: absent fields keep their values."""

    is_active: IsActive | UnsetType = UNSET
    proxy_protocol: Protocols | UnsetType = UNSET
    proxy_username: Username | UnsetType | None = UNSET
    proxy_password: Password | UnsetType | None = UNSET
    country_code: Country | UnsetType | None = UNSET
    city: City | UnsetType | None = UNSET
    provider: Provider | UnsetType | None = UNSET
    monthly_cost: Cost | UnsetType | None = UNSET
    max_requests_per_hour: PerHour | UnsetType = UNSET

    def facts(self) -> dict[str, Any]:
        """Return the changed facts under our names."""
        sent = {ours: getattr(self, theirs) for theirs, ours in _CHANGES.items()}
        found = {name: value for name, value in sent.items() if value is not UNSET}
        emptied = {name: "" for name in ("username", "password") if found.get(name, UNSET) is None}
        return found | emptied


_CHANGES = {
    "is_active": "active",
    "proxy_protocol": "scheme",
    "proxy_username": "username",
    "proxy_password": "password",
    "country_code": "country",
    "city": "city",
    "provider": "provider",
    "monthly_cost": "monthly_cost",
    "max_requests_per_hour": "max_per_hour",
}


class ProxyListQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter and the page of a list of proxies."""

    is_active: IsActive | None = None
    country_code: Country | None = None
    provider: Provider | None = None


@operation(
    "POST",
    PATH,
    "Register a proxy",
    access="admin",
    status=201,
    errors=(errors.INVALID_FIELD, errors.DUPLICATE_PROXY),
    request_example=examples.NEW_PROXY,
    response_example=examples.PROXY_CREATED,
    action="proxy.create",
)
async def create_proxy(services: ProxyServices, body: ProxyRequestBody) -> WriteSuccess[ProxyBody]:
    try:
        view = await services.proxies.add(body.address(), **body.facts())
    except DuplicateProxy as taken:
        error = errors.duplicate_proxy(body.proxy_url.strip(), body.proxy_port, taken.proxy_id)
        raise ApiFailure(error) from None
    return written(proxy_body(view), "Proxy created successfully")


@operation("GET", PATH, "List proxies", access="admin", response_example=examples.PROXIES)
async def list_proxies(services: ProxyServices, query: ProxyListQuery) -> ListSuccess[ProxyBody]:
    country = query.country_code.upper() if query.country_code else None
    wanted = ProxyFilter(active=query.is_active, country=country, provider=query.provider)
    rows = await services.proxies.find(wanted, limit=query.per_page, offset=query.offset)
    return listed([proxy_body(row) for row in rows], query.page, query.per_page, await services.figures.count(wanted))


@operation(
    "GET",
    f"{PATH}/{{proxy_id}}",
    "Show a proxy",
    access="admin",
    errors=(errors.NO_PROXY,),
    response_example=examples.PROXY_DETAIL,
)
async def show_proxy(services: ProxyServices, proxy_id: ProxyId) -> ProxyDetail:
    view = await services.proxies.get(proxy_id)
    using = await services.figures.sources_using([proxy_id])
    stats = ProxyStats(view.success_rate, view.success_count + view.total_failures, using[proxy_id])
    return ProxyDetail(**msgspec.structs.asdict(proxy_body(view)), stats=stats)


@operation(
    "PATCH",
    f"{PATH}/{{proxy_id}}",
    "Change a proxy",
    access="admin",
    errors=(errors.NO_PROXY, errors.DUPLICATE_PROXY),
    request_example=examples.PROXY_CHANGE,
    response_example=examples.PROXY_CHANGED,
    action="proxy.change",
)
async def change_proxy(services: ProxyServices, proxy_id: ProxyId, body: ProxyChanges) -> WriteSuccess[ProxyBody]:
    """Change switch, credentials, place, cost or limit; null deletes a value."""
    view = await services.proxies.update(proxy_id, **body.facts())
    return written(proxy_body(view), "Proxy updated successfully")


@operation(
    "POST",
    f"{PATH}/{{proxy_id}}/enable",
    "Enable a proxy",
    access="admin",
    errors=(errors.NO_PROXY,),
    response_example=examples.PROXY_ENABLED,
    action="proxy.enable",
)
async def enable_proxy(services: ProxyServices, proxy_id: ProxyId) -> WriteSuccess[ProxySwitched]:
    """Enable a proxy and reset its consecutive failures."""
    view = await services.proxies.enable(proxy_id)
    return written(_switched(view), "Proxy enabled successfully")


@operation(
    "POST",
    f"{PATH}/{{proxy_id}}/disable",
    "Disable a proxy",
    access="admin",
    errors=(errors.NO_PROXY,),
    response_example=examples.PROXY_DISABLED,
    action="proxy.disable",
)
async def disable_proxy(services: ProxyServices, proxy_id: ProxyId) -> WriteSuccess[ProxySwitched]:
    """Disable a proxy everywhere, until it is enabled again; no success of a request does that."""
    view = await services.proxies.disable(proxy_id)
    return written(_switched(view), "Proxy disabled successfully")


@operation(
    "DELETE",
    f"{PATH}/{{proxy_id}}",
    "Delete a proxy",
    access="admin",
    errors=(errors.NO_PROXY,),
    response_example=examples.PROXY_DELETED,
    action="proxy.delete",
)
async def delete_proxy(services: ProxyServices, proxy_id: ProxyId) -> WriteSuccess[ProxyDeleted]:
    """Delete a proxy and its mappings; tasks that used it keep no proxy."""
    await services.proxies.remove(proxy_id)
    return written(ProxyDeleted(proxy_id), "Proxy deleted successfully")


PROXIES = (create_proxy, list_proxies, show_proxy, change_proxy, enable_proxy, disable_proxy, delete_proxy)


def _switched(view: ProxyView) -> ProxySwitched:
    return ProxySwitched(view.id, view.active, view.failure_count)
