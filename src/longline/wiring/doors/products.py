"""Wiring of the product-tasks API."""

from longline import __version__
from longline.services.archive.item_history import ItemHistories
from longline.services.health import Health
from longline.services.proxies.proxies import Proxies
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.search import Searches
from longline.services.sources.recrawled_sources import RecrawledSources, SourceDefaults
from longline.settings import Settings
from longline.surfaces.products.domains import DomainServices
from longline.surfaces.products.door import ProductServices
from longline.surfaces.products.mappings import MappingServices
from longline.surfaces.products.monitoring import MonitoringServices
from longline.surfaces.products.products import KIND, CatalogServices
from longline.surfaces.products.proxies import ProxyServices
from longline.wiring.house import House
from longline.wiring.parts.sources import source_robots, source_service


def product_services(house: House, health: Health) -> ProductServices:
    """Return the services behind the product-tasks API."""
    records, settings = house.records, house.settings
    proxies, figures = Proxies(records.proxies, house.vault), ProxyFigures(records.proxy_figures)
    sources = source_service(house)
    recrawled = RecrawledSources(sources, records.sources, figures, _defaults(settings))
    return ProductServices(
        domains=DomainServices(recrawled, source_robots(house), settings.politeness),
        mappings=MappingServices(sources, proxies, figures),
        proxies=ProxyServices(proxies, figures),
        products=CatalogServices(
            Searches(house.search, records.items), ItemHistories(records.items, records.item_changes, KIND)
        ),
        monitoring=MonitoringServices(health, __version__, house.clock.now),
    )


def _defaults(settings: Settings) -> SourceDefaults:
    return SourceDefaults(round(settings.delay * 1000), settings.host_concurrency, settings.user_agent)
