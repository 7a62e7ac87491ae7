"""A further address that serves `/metrics` alone, without a token."""

from litestar import Litestar

from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.error_format import ErrorFormat
from longline.surfaces.middleware import RequestMiddleware, error_handlers
from longline.surfaces.platform.metrics_endpoint import METRICS, MetricsServices
from longline.surfaces.routing import route_of


def metrics_app(services: MetricsServices) -> Litestar:
    """Return the application of the address."""
    group = OperationGroup("platform", "Metrics of the process.", METRICS, services)
    door = Door("metrics", "Metrics", ("/",), ErrorFormat(), (group,), {"metrics": PUBLIC})
    routes = [route_of(endpoint) for endpoint in door.endpoints()]
    app = Litestar(routes, exception_handlers=error_handlers([door]), openapi_config=None, logging_config=None)
    app.asgi_handler = RequestMiddleware(app.asgi_handler, lambda _: None, [door])
    return app
