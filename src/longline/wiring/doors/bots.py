"""Bots: the services behind their door, and their chores."""

import logging

from longline.engine.bots import BotTaskPlanner
from longline.engine.lifecycle.bots import BotLifecycle
from longline.services.bots.policies import BotPolicies
from longline.services.bots.pull import BotPulls, BotSettings
from longline.services.bots.registry import BotRegistry
from longline.services.bots.tasks import BotTasks
from longline.settings import Settings
from longline.surfaces.bots.door import BotServices
from longline.wiring.house import House

log = logging.getLogger(__name__)


def bot_services(house: House) -> BotServices:
    """Return the services behind the bots' door."""
    settings = bot_settings(house.settings)
    if settings.mode == "optional":
        # On loopback optional registration is the default and no mistake.
        level = logging.DEBUG if house.settings.loopback else logging.WARNING
        log.log(level, "bots need no registration; set bot_auth to required if other machines can reach this server")
    records, blobs, clock, delay = house.records, house.blobs, house.clock, _delay(house)
    return BotServices(
        pulls=BotPulls(BotLifecycle(records), records.bots, blobs, clock, settings),
        policies=BotPolicies(records, blobs, delay),
        tasks=BotTasks(records, blobs, clock, delay),
        registry=BotRegistry(records.bots),
        now=clock.now,
    )


def bot_settings(settings: Settings) -> BotSettings:
    """Return the settings for bots; with `auto`, registration is required except on loopback."""
    required = settings.bot_auth == "required" or (settings.bot_auth == "auto" and not settings.loopback)
    return BotSettings(
        mode="required" if required else "optional",
        reclaim=settings.bot_reclaim,
        whole_domains=settings.bot_domain_match == "suffix",
    )


def bot_task_planner(house: House) -> BotTaskPlanner:
    """Return the chores for bots."""
    return BotTaskPlanner(BotLifecycle(house.records), house.records.bots, house.clock, _delay(house))


def _delay(house: House) -> int:
    return round(house.settings.delay * 1000)
