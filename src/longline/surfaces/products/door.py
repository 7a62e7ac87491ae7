"""The product-tasks API as one value: its operations by subject, its access checks and its metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

from longline.model.callers.caller import NOT_BANNED, OPERATORS
from longline.services.callers.callers import Callers
from longline.surfaces.access import DoorAccess
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.products.domains import DOMAINS, DomainServices
from longline.surfaces.products.format import ProductFormat
from longline.surfaces.products.mappings import MAPPINGS, MappingServices
from longline.surfaces.products.monitoring import MONITORING, MonitoringServices
from longline.surfaces.products.products import PRODUCTS, CatalogServices
from longline.surfaces.products.proxies import PROXIES, ProxyServices

NAME = "products"


@dataclass(frozen=True, slots=True)
class ProductServices:
    """The services behind the product-tasks API, by subject."""

    domains: DomainServices
    mappings: MappingServices
    proxies: ProxyServices
    products: CatalogServices
    monitoring: MonitoringServices


def products_door(services: ProductServices, callers: Callers, *, is_open: bool = False) -> Door:
    """Return the product-tasks API. With `is_open` it needs no credentials."""
    access = DoorAccess(callers, NAME, is_open=is_open)
    return Door(
        name=NAME,
        title="Product tasks",
        prefixes=("/api/admin", "/api/products", "/api/health"),
        format=ProductFormat(),
        groups=tuple(_groups(services)),
        access={"public": PUBLIC, "admin": access.of(OPERATORS), "reader": access.of(NOT_BANNED)},
    )


def _groups(services: ProductServices) -> Iterator[OperationGroup]:
    yield OperationGroup("domains", "Sites with their settings.", DOMAINS, services.domains)
    yield OperationGroup("domain proxies", "The own pool of proxies of a domain.", MAPPINGS, services.mappings)
    yield OperationGroup("proxies", "Ways that requests go.", PROXIES, services.proxies)
    yield OperationGroup("products", "Products of all domains.", PRODUCTS, services.products)
    yield OperationGroup("monitoring", "The state of the platform.", MONITORING, services.monitoring)
