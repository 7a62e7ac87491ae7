"""Bots: the services behind their door, and their chores."""

import logging

from longline.engine.bots.bot_task_upkeep import BotTaskUpkeep
from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.services.bots.access import BotAccess, BotMode
from longline.services.bots.bots import BotRegistry
from longline.services.bots.policies import BotPolicies
from longline.services.bots.pulls import BotPulls, PullSettings
from longline.services.bots.submits import BotSubmits
from longline.services.bots.tasks import BotTasks
from longline.settings import Settings
from longline.surfaces.bots.services import BotServices
from longline.wiring.platform import Platform

log = logging.getLogger(__name__)


def bot_services(platform: Platform) -> BotServices:
    """Return the services behind the bots' door."""
    mode = bot_mode(platform.settings)
    if mode == "optional":
        # On loopback optional registration is the default and no mistake.
        level = logging.DEBUG if platform.settings.loopback else logging.WARNING
        log.log(level, "bots need no registration; set bots_access to key if other machines can reach this server")
    records, blobs, clock, delay = platform.records, platform.blobs, platform.clock, _delay(platform)
    lifecycle, access = BotLifecycle(records), BotAccess(records.bots, clock, mode)
    return BotServices(
        pulls=BotPulls(lifecycle, access, _pull_settings(platform.settings)),
        submits=BotSubmits(lifecycle, access, blobs),
        policies=BotPolicies(records, blobs, delay),
        tasks=BotTasks(records, blobs, clock, delay),
        registry=BotRegistry(records.bots),
        now=clock.now,
    )


def bot_mode(settings: Settings) -> BotMode:
    """Return whether bots must be registered; with `auto` access they must, except on loopback."""
    return "optional" if settings.is_open(settings.bots_access) else "required"


def bot_task_upkeep(platform: Platform) -> BotTaskUpkeep:
    """Return the chores for bots."""
    return BotTaskUpkeep(BotLifecycle(platform.records), platform.records.bots, platform.clock, _delay(platform))


def _pull_settings(settings: Settings) -> PullSettings:
    return PullSettings(reclaim=settings.bot_reclaim, whole_domains=settings.bot_domain_match == "suffix")


def _delay(platform: Platform) -> int:
    return round(platform.settings.delay * 1000)
