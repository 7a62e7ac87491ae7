"""The bot API as one value: its operations for bots and for admins, its access checks and its metrics."""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from longline.model.callers.caller import ADMINS
from longline.services.bots.policies import BotPolicies
from longline.services.bots.pulls import BotPulls
from longline.services.bots.registry import BotRegistry
from longline.services.bots.submits import BotSubmits
from longline.services.bots.tasks import BotTasks
from longline.services.callers.callers import Callers
from longline.surfaces.access import DoorAccess
from longline.surfaces.bots.bot_operations import BOT_OPERATIONS, PullServices
from longline.surfaces.bots.format import BotFormat
from longline.surfaces.bots.jobs import JOB_OPERATIONS, BotJobServices
from longline.surfaces.bots.metrics import BotMetrics
from longline.surfaces.bots.paths import PREFIX, EscapedPaths
from longline.surfaces.bots.policies import POLICY_OPERATIONS, PolicyServices
from longline.surfaces.bots.registry import REGISTRY_OPERATIONS, RegistryServices
from longline.surfaces.bots.results import RESULT_OPERATIONS, ResultServices
from longline.surfaces.door import Access, Door, HttpRequest, OperationGroup

NAME = "bots"
_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class BotServices:
    """The services behind the bot API; `now` returns UTC milliseconds."""

    pulls: BotPulls
    submits: BotSubmits
    policies: BotPolicies
    tasks: BotTasks
    registry: BotRegistry
    now: Callable[[], int]


def bots_door(services: BotServices, callers: Callers, registry: CollectorRegistry) -> Door:
    """Return the API for bots and their admins; its metrics are registered in `registry`."""
    metrics = BotMetrics(registry)

    async def refresh_metrics() -> None:
        metrics.set_jobs(await services.tasks.states())

    return Door(
        name=NAME,
        title="Bots",
        prefixes=(PREFIX,),
        format=BotFormat(),
        groups=_groups(services, metrics),
        access={
            "bot": Access(_bearer, ("bot_token",), is_optional=True),
            "admin": DoorAccess(callers, NAME).of(ADMINS),
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
