"""The whole door: bots' routes and people's, at one path, with errors in one envelope."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from litestar import Router
from litestar.handlers import HTTPRouteHandler
from prometheus_client import CollectorRegistry

from longline.services.bot_registry import BotRegistry
from longline.services.bot_schedules import BotPlans
from longline.services.bot_tasks import BotOffice
from longline.services.bots import BotWork
from longline.services.tokens import Tokens
from longline.surfaces.bots.admin import BotAdminRoutes, JobRoutes, PolicyRoutes, admin_router
from longline.surfaces.bots.answers import ERRORS
from longline.surfaces.bots.meter import Meter
from longline.surfaces.bots.routes import BotRoutes


@dataclass(frozen=True, slots=True)
class BotParts:
    """The services behind this door; `now` tells UTC milliseconds."""

    work: BotWork
    plans: BotPlans
    office: BotOffice
    registry: BotRegistry
    now: Callable[[], int]


def bots_door(
    parts: BotParts, tokens: Tokens, figures: CollectorRegistry
) -> tuple[Router, Callable[[], Awaitable[None]]]:
    """The router, and what brings this door's gauges up to date."""
    meter = Meter(figures)
    policies, jobs = PolicyRoutes(parts.plans, parts.now), JobRoutes(parts.office, parts.plans)
    admin = admin_router(policies, jobs, BotAdminRoutes(parts.registry), tokens)

    async def take_stock() -> None:
        meter.stand(await parts.office.states())

    handlers: list[HTTPRouteHandler | Router] = [*BotRoutes(parts.work, meter).handlers(), admin]
    return Router("/api/crawl", route_handlers=handlers, exception_handlers=ERRORS, tags=["bots"]), take_stock
