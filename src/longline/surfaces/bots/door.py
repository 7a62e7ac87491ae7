"""The complete bot API: routes for bots and for admins below one path, with errors in one envelope."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from litestar import Router
from litestar.handlers import HTTPRouteHandler
from litestar.types import ExceptionHandlersMap
from prometheus_client import CollectorRegistry

from longline.services.bots.policies import BotPolicies
from longline.services.bots.pull import BotPulls
from longline.services.bots.registry import BotRegistry
from longline.services.bots.tasks import BotTasks
from longline.services.tokens import Tokens
from longline.surfaces.bots.admin import BotAdminRoutes, JobRoutes, PolicyRoutes, admin_router
from longline.surfaces.bots.envelope import PREFIX, on_error
from longline.surfaces.bots.lane import Act
from longline.surfaces.bots.metrics import BotMetrics
from longline.surfaces.bots.routes import BotRoutes
from longline.surfaces.http import ERRORS


@dataclass(frozen=True, slots=True)
class BotParts:
    """The services behind the bot API; `now` returns UTC milliseconds."""

    work: BotPulls
    plans: BotPolicies
    office: BotTasks
    registry: BotRegistry
    now: Callable[[], int]


@dataclass(frozen=True, slots=True)
class BotDoor:
    """The router, the acts of the fast path, and the function that updates the bot API's gauges."""

    router: Router
    acts: Mapping[str, Act]
    take_stock: Callable[[], Awaitable[None]]


def bots_door(parts: BotParts, tokens: Tokens, figures: CollectorRegistry) -> BotDoor:
    """Return the API for bots and their admins."""
    meter = BotMetrics(figures)
    routes = BotRoutes(parts.work, meter)
    policies, jobs = PolicyRoutes(parts.plans, parts.now), JobRoutes(parts.office, parts.plans)
    admin = admin_router(policies, jobs, BotAdminRoutes(parts.registry), tokens)

    async def take_stock() -> None:
        meter.stand(await parts.office.states())

    handlers: list[HTTPRouteHandler | Router] = [*routes.handlers(), admin]
    # The framework prefers the handler of the most specific error class, even one of the application.
    errors: ExceptionHandlersMap = dict.fromkeys(ERRORS, on_error)
    router = Router(PREFIX, route_handlers=handlers, exception_handlers=errors, tags=["bots"])
    return BotDoor(router, routes.acts(), take_stock)
