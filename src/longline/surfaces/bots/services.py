"""The services behind the bot API.

The module imports no framework: commands use the services, and serve nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from longline.services.bots.bots import BotRegistry
from longline.services.bots.policies import BotPolicies
from longline.services.bots.pulls import BotPulls
from longline.services.bots.submits import BotSubmits
from longline.services.bots.tasks import BotTasks


@dataclass(frozen=True, slots=True)
class BotServices:
    """The services behind the bot API; `now` returns UTC milliseconds."""

    pulls: BotPulls
    submits: BotSubmits
    policies: BotPolicies
    tasks: BotTasks
    registry: BotRegistry
    now: Callable[[], int]
