"""The bot API as one value: its operations for bots and for admins, its access checks and its metrics."""

from urllib.parse import unquote

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send
from prometheus_client import CollectorRegistry

from longline.model.callers.door import BOTS
from longline.model.callers.roles import ADMINS
from longline.services.callers.callers import Callers
from longline.surfaces.access import DoorAccess
from longline.surfaces.bots import ADMIN, PREFIX
from longline.surfaces.bots.bot_operations import BOT_OPERATIONS, PullServices
from longline.surfaces.bots.bots import REGISTRY_OPERATIONS, RegistryServices
from longline.surfaces.bots.error_format import BotFormat
from longline.surfaces.bots.jobs.jobs import JOB_OPERATIONS, BotJobServices
from longline.surfaces.bots.jobs.results import RESULT_OPERATIONS, ResultServices
from longline.surfaces.bots.metrics import BotMetrics
from longline.surfaces.bots.policies import POLICY_OPERATIONS, PolicyServices
from longline.surfaces.bots.services import BotServices
from longline.surfaces.door import Access, Door, HttpRequest, OperationGroup

_BEARER = "bearer "


def bots_door(services: BotServices, callers: Callers, registry: CollectorRegistry) -> Door:
    """Return the API for bots and their admins; its metrics are registered in `registry`."""
    metrics = BotMetrics(registry)

    async def refresh_metrics() -> None:
        metrics.set_jobs(await services.tasks.states())

    return Door(
        name=BOTS,
        title="Bots",
        prefixes=(PREFIX,),
        format=BotFormat(),
        groups=_groups(services, metrics),
        access={
            "bot": Access(_bearer, ("bot_token",), is_optional=True),
            "admin": DoorAccess(callers, BOTS).of(ADMINS),
        },
        refresh_metrics=refresh_metrics,
        wrap=EscapedPaths,
        reads_nul=True,
    )


def _groups(services: BotServices, metrics: BotMetrics) -> tuple[OperationGroup, ...]:
    policies, tasks = services.policies, services.tasks
    return (
        OperationGroup(
            "bots",
            "Work of bots: each job is locked for a time, within which the bot submits its result.",
            BOT_OPERATIONS,
            PullServices(services.pulls, services.submits, metrics),
        ),
        OperationGroup(
            "policies",
            "Policies, of which jobs are made at intervals. For admins.",
            POLICY_OPERATIONS,
            PolicyServices(policies, services.now),
        ),
        OperationGroup("bot jobs", "Jobs of bots. For admins.", JOB_OPERATIONS, BotJobServices(tasks, policies)),
        OperationGroup("results", "Results of bots. For admins.", RESULT_OPERATIONS, ResultServices(tasks)),
        OperationGroup(
            "registry",
            "Registered bots, their limits and tokens. For admins.",
            REGISTRY_OPERATIONS,
            RegistryServices(services.registry),
        ),
    )


def _bearer(request: HttpRequest) -> str | None:
    """Return the bearer token of a bot; the service checks it, after the request is read."""
    given = request.header(b"authorization") or ""
    return given[len(_BEARER) :].strip() if given.lower().startswith(_BEARER) else None


class EscapedPaths:
    """An ASGI wrapper that routes admin requests by their undecoded path, and leaves others unchanged.

    An id may contain a slash, which only its escape marks.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request to the application."""
        if scope["type"] == ScopeType.HTTP and scope["path"].startswith(f"{ADMIN}/"):
            sent = scope.get("raw_path", b"").decode("latin-1")
            # Segments of plain ASCII names are still decoded, so that routes match with any letters escaped.
            if "%" in sent:
                scope["path"] = "/".join(_plain(segment) for segment in sent.split("/"))
        await self._app(scope, receive, send)


def _plain(segment: str) -> str:
    read = unquote(segment)
    return read if read.isascii() and read.replace("-", "").isalnum() else segment
