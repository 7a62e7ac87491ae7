"""Wiring of the product-tasks API."""

from longline import __version__
from longline.services.health import Health
from longline.surfaces.products.door import ProductServices
from longline.surfaces.products.monitoring import MonitoringServices
from longline.wiring.house import House


def product_services(house: House, health: Health) -> ProductServices:
    """Return the services behind the product-tasks API."""
    return ProductServices(monitoring=MonitoringServices(health, __version__, house.clock.now))
