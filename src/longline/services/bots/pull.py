"""Requests of bots: pull tasks, submit answers, extend leases."""

import hmac
import logging
import math
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from longline.engine.lifecycle.bots import BotLifecycle
from longline.model.bots.bot import AnswerVerdict, BotAnswer, BotFinding, BotRow, Pull, Pulled
from longline.model.errors import LonglineError
from longline.model.ids import new_id, task_id_of
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records.bots import BotStore
from longline.services.group_commit import GroupCommit

KEEP_ANSWERS_MS = 24 * 3_600_000
"""Time for which a repeated submit gets the answer of the first."""

GROUP_WAIT_SECONDS = 0.002
"""Seconds for which a group commit waits for more calls while many bots call."""

BotMode = Literal["optional", "required"]
Why = Literal["missing", "unknown", "wrong", "expired", "disabled"]

_log = logging.getLogger(__name__)


class BotRefused(LonglineError):
    """A bot was refused; `why` is for logs, and the bot learns only whether it is disabled."""

    def __init__(self, why: Why) -> None:
        super().__init__("Bot is disabled" if why == "disabled" else "Invalid or missing API token")
        self.why = why


class TooOften(LonglineError):
    """A bot exceeded its pace; its next request is accepted after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"Rate limit exceeded, try again in {self.seconds} seconds")


class BotSettings(msgspec.Struct, frozen=True):
    """The operator's settings for bots."""

    mode: BotMode = "optional"
    reclaim: bool = True
    whole_domains: bool = False


class Caller(msgspec.Struct, frozen=True):
    """The name and the token that a bot sends."""

    name: str
    token: str | None = None


class PullOrder(msgspec.Struct, frozen=True):
    """A bot's request for tasks: their number, a part of their hosts' names, and the hosts to choose from."""

    limit: int = 10
    domain: str = ""
    hosts: Sequence[str] = ()


class Submission(msgspec.Struct, frozen=True):
    """An answer as a bot sends it; `page` is the text of the page, and `submit` sets `found.page_key`."""

    task: str
    found: BotFinding | None = None
    page: str | None = None
    error: str = ""
    key: str | None = None


def digest(token: str) -> str:
    """Return the hash of a token that is stored: a plain hash is safe, since a token has 32 random bytes."""
    return sha256(token.encode()).hexdigest()


class BotPulls:
    """The requests of bots, carried out in group commits."""

    def __init__(
        self, lifecycle: BotLifecycle, bots: BotStore, blobs: Blobs, clock: Clock, settings: BotSettings
    ) -> None:
        self._lifecycle, self._bots, self._blobs, self._clock = lifecycle, bots, blobs, clock
        self._settings = settings
        self._known: GroupCommit[str, BotRow | None] = GroupCommit(self._look_up, lambda _: object())
        self._paces: GroupCommit[int, int] = GroupCommit(self._spend, lambda _: object())
        self._pulls: GroupCommit[Pull, Pulled] = GroupCommit(
            self._lifecycle.pull, lambda _: object(), 32, GROUP_WAIT_SECONDS
        )
        self._submits: GroupCommit[BotAnswer, AnswerVerdict] = GroupCommit(
            self._submit, lambda answer: answer.task_id, pause=GROUP_WAIT_SECONDS
        )

    async def admit(self, caller: Caller) -> BotRow | None:
        """Check a bot's token and pace; return its row if known, or raise `BotRefused` or `TooOften`."""
        bot = await self._known(caller.name)
        why = self._objection(bot, caller.token)
        if why is not None:
            _log.warning("bot refused", extra={"bot": caller.name, "why": why})
            raise BotRefused(why)
        if bot is not None and bot.per_minute is not None:
            wait_ms = await self._paces(bot.id)
            if wait_ms > 0:
                raise TooOften(wait_ms / 1000)
        return bot

    async def pull(self, caller: Caller, order: PullOrder) -> Pulled:
        """Claim tasks for a bot, as many as it asks for and may have."""
        bot = await self.admit(caller)
        limit, needle = order.limit, order.domain.lower() or None
        if needle and self._settings.whole_domains:
            needle = f".{needle}:"
        names = msgspec.json.encode(order.hosts).decode()
        ask = Pull(caller.name, None, limit, needle, reclaim=self._settings.reclaim, names=names)
        if bot is not None:
            own = {"bot_id": bot.id, "limit": min(limit, bot.max_pull)}
            ask = msgspec.structs.replace(ask, **own, domains=bot.domains, lease_ms=bot.lease_ms)
        pulled = await self._pulls(ask)
        return pulled if bot is None or not bot.boost else _boosted(pulled, bot.boost)

    async def submit(self, caller: Caller, submission: Submission) -> AnswerVerdict:
        """Store a bot's answer for a task; return after a commit that it shares with concurrent answers."""
        await self.admit(caller)
        ids = task_id_of(submission.task)
        if ids is None:
            return AnswerVerdict(refusal="missing")
        found = submission.found
        page_key = await self._keep(submission.page) if found and submission.page is not None else None
        if found is not None:
            found = msgspec.structs.replace(found, page_key=page_key)
        # A key belongs to one task: a bot that always sends the same key must not get another task's verdict.
        key = f"{ids[0]}/{submission.key}" if submission.key else None
        verdict = await self._submits(BotAnswer(*ids, caller.name, found, submission.error, key))
        gone = page_key if verdict.refusal is not None or verdict.replayed else verdict.replaced
        if gone is not None:
            await self._blobs.delete([gone])
        return verdict

    async def extend(self, caller: Caller, task: str) -> AnswerVerdict:
        """Renew a bot's lease on a task for its full time from now."""
        await self.admit(caller)
        ids = task_id_of(task)
        return AnswerVerdict(refusal="missing") if ids is None else await self._lifecycle.extend(*ids, caller.name)

    def _objection(self, bot: BotRow | None, token: str | None) -> Why | None:
        if bot is not None and not bot.enabled:
            return "disabled"
        if bot is None or bot.secret is None:
            return "unknown" if self._settings.mode == "required" else None
        if not token:
            return "missing"
        if not hmac.compare_digest(digest(token), bot.secret):
            return "wrong"
        until = bot.secret_until
        return "expired" if until is not None and until <= self._clock.now() else None

    async def _look_up(self, names: Sequence[str]) -> list[BotRow | None]:
        found = await self._bots.get(sorted(set(names)))
        return [found.get(name) for name in names]

    async def _spend(self, ids: Sequence[int]) -> list[int]:
        """Return the wait of each request in milliseconds, 0 within the pace; earlier requests are granted first."""
        spent = await self._bots.spend(Counter(ids))
        came: Counter[int] = Counter()
        waits = []
        for i in ids:
            came[i] += 1
            waits.append(spent[i].wait_ms if i in spent and came[i] > spent[i].granted else 0)
        return waits

    async def _submit(self, answers: Sequence[BotAnswer]) -> list[AnswerVerdict]:
        return await self._lifecycle.submit(answers, KEEP_ANSWERS_MS)

    async def _keep(self, page: str) -> str:
        key = f"bots/{new_id()}.html"
        await self._blobs.put(key, page.encode())
        return key


def _boosted(pulled: Pulled, boost: int) -> Pulled:
    # A smaller stored priority is more urgent.
    tasks = [msgspec.structs.replace(task, priority=task.priority - boost) for task in pulled.tasks]
    return msgspec.structs.replace(pulled, tasks=tasks)
