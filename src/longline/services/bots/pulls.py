"""Pulls of bots: tasks under a lease, and the extension of the lease."""

from collections.abc import Sequence

import msgspec

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.model.bots.bot_task import AnswerVerdict, Pull, Pulled
from longline.model.ids import task_id_of
from longline.services.bots.access import BotAccess, BotCredentials
from longline.services.group_commit import GROUP_WAIT_SECONDS, GroupCommit


class PullSettings(msgspec.Struct, frozen=True):
    """The operator's settings for pulls."""

    reclaim: bool = True
    whole_domains: bool = False


class PullOrder(msgspec.Struct, frozen=True):
    """A bot's request for tasks: their number, a part of their hosts' names, and the hosts to choose from."""

    limit: int = 10
    domain: str = ""
    hosts: Sequence[str] = ()


class BotPulls:
    """The pulls of bots; concurrent pulls share one transaction."""

    def __init__(self, lifecycle: BotLifecycle, access: BotAccess, settings: PullSettings) -> None:
        self._lifecycle, self._access, self._settings = lifecycle, access, settings
        self._pulls: GroupCommit[Pull, Pulled] = GroupCommit(
            self._lifecycle.pull, lambda _: object(), 32, GROUP_WAIT_SECONDS
        )

    async def pull(self, credentials: BotCredentials, order: PullOrder) -> Pulled:
        """Claim tasks for a bot, as many as it asks for and may have."""
        bot = await self._access.admit(credentials)
        limit, needle = order.limit, order.domain.lower() or None
        if needle and self._settings.whole_domains:
            needle = f".{needle}:"
        names = msgspec.json.encode(order.hosts).decode()
        ask = Pull(credentials.name, None, limit, needle, reclaim=self._settings.reclaim, names=names)
        if bot is not None:
            own = {"bot_id": bot.id, "limit": min(limit, bot.max_pull)}
            ask = msgspec.structs.replace(ask, **own, domains=bot.domains, lease_ms=bot.lease_ms)
        pulled = await self._pulls(ask)
        return pulled if bot is None or not bot.boost else _boosted(pulled, bot.boost)

    async def extend(self, credentials: BotCredentials, task: str) -> AnswerVerdict:
        """Renew a bot's lease on a task for its full time from now."""
        await self._access.admit(credentials)
        ids = task_id_of(task)
        return AnswerVerdict(refusal="missing") if ids is None else await self._lifecycle.extend(*ids, credentials.name)


def _boosted(pulled: Pulled, boost: int) -> Pulled:
    # A smaller stored priority is more urgent.
    tasks = [msgspec.structs.replace(task, priority=task.priority - boost) for task in pulled.tasks]
    return msgspec.structs.replace(pulled, tasks=tasks)
