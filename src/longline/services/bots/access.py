"""Access of bots: their tokens and their rate limit."""

import hmac
import logging
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from longline.model.bots.bot import BotRow
from longline.model.errors import LonglineError
from longline.ports.clock import Clock
from longline.ports.records.bots import BotStore
from longline.services.callers.rate_limits import TooOften
from longline.services.group_commit import GroupCommit

BotMode = Literal["optional", "required"]
Why = Literal["missing", "unknown", "wrong", "expired", "disabled"]

_log = logging.getLogger(__name__)


class BotRefused(LonglineError):
    """A bot was refused; `why` is for logs, and the bot learns only whether it is disabled."""

    def __init__(self, why: Why) -> None:
        super().__init__("Bot is disabled" if why == "disabled" else "Invalid or missing API token")
        self.why = why


class BotCredentials(msgspec.Struct, frozen=True):
    """The name and the token that a bot sends."""

    name: str
    token: str | None = None


def digest(token: str) -> str:
    """Return the hash of a token that is stored: a plain hash is safe, since a token has 32 random bytes."""
    return sha256(token.encode()).hexdigest()


class BotAccess:
    """The check of a bot's token and rate limit; concurrent requests share their reads and writes."""

    def __init__(self, bots: BotStore, clock: Clock, mode: BotMode) -> None:
        self._bots, self._clock, self._mode = bots, clock, mode
        self._known: GroupCommit[str, BotRow | None] = GroupCommit(self._look_up, lambda _: object())
        self._rates: GroupCommit[int, int] = GroupCommit(self._spend, lambda _: object())

    async def admit(self, credentials: BotCredentials) -> BotRow | None:
        """Check a bot's token and rate limit; return its row if known, or raise `BotRefused` or `TooOften`."""
        bot = await self._known(credentials.name)
        why = self._objection(bot, credentials.token)
        if why is not None:
            _log.warning("bot refused", extra={"bot": credentials.name, "why": why})
            raise BotRefused(why)
        if bot is not None and bot.per_minute is not None:
            wait_ms = await self._rates(bot.id)
            if wait_ms > 0:
                raise TooOften(wait_ms / 1000)
        return bot

    def _objection(self, bot: BotRow | None, token: str | None) -> Why | None:
        if bot is not None and not bot.enabled:
            return "disabled"
        if bot is None or bot.secret is None:
            return "unknown" if self._mode == "required" else None
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
        """Return the wait of each request in milliseconds, 0 within the limit; earlier requests are granted first."""
        spent = await self._bots.spend(Counter(ids))
        came: Counter[int] = Counter()
        waits = []
        for i in ids:
            came[i] += 1
            waits.append(spent[i].wait_ms if i in spent and came[i] > spent[i].granted else 0)
        return waits
