"""The registry of bots: registered with a token that is shown once, changed, disabled and enabled."""

import secrets
from typing import Any

import msgspec

from longline.model.bots.bot import PREVIEW_CHARS, RANDOM_BYTES, BotRow, NewBot
from longline.model.errors import NotFound
from longline.ports.records.bots import BotStore
from longline.services.bots.access import digest


class BotRegistry:
    """The registered bots."""

    def __init__(self, bots: BotStore) -> None:
        self._bots = bots

    async def register(self, bot: NewBot) -> tuple[BotRow, str] | None:
        """Register a bot; return its row and its token, which is never shown again, or None when the name is taken."""
        token = _token(bot.name)
        row = await self._bots.register(msgspec.structs.replace(_zeros_unset(bot), **_kept(token)))
        return None if row is None else (row, token)

    async def find(self, *, limit: int, offset: int = 0, after: str = "") -> list[BotRow]:
        """Return registered bots, ordered by name; `after` continues a list behind a name."""
        return await self._bots.find(limit=limit, offset=offset, after=after)

    async def get(self, name: str) -> BotRow:
        """Return a registered bot."""
        row = (await self._bots.get([name])).get(name)
        if row is None or not row.registered:
            raise NotFound("bot", name)
        return row

    async def change(self, name: str, **changes: Any) -> BotRow:
        """Change any field of a bot except its name and figures."""
        row = await self.get(name)
        facts = {field: getattr(row, field) for field in NewBot.__struct_fields__} | changes
        changed = await self._bots.change(_zeros_unset(NewBot(**facts)))
        if changed is None:
            raise NotFound("bot", name)
        return changed

    async def rotate(self, name: str) -> tuple[BotRow, str]:
        """Replace a bot's token; the old token is invalid at once."""
        token = _token(name)
        return await self.change(name, **_kept(token), secret_until=None), token

    async def reset(self, name: str) -> BotRow:
        """Set a bot's figures to zero."""
        await self.get(name)
        row = await self._bots.reset(name)
        if row is None:
            raise NotFound("bot", name)
        return row


def _zeros_unset(bot: NewBot) -> NewBot:
    """Return the bot with None, no rate limit and the lock time of the job, where people write 0."""
    return msgspec.structs.replace(bot, per_minute=bot.per_minute or None, lease_ms=bot.lease_ms or None)


def _token(name: str) -> str:
    return f"bot_{name}_{secrets.token_urlsafe(RANDOM_BYTES)}"


def _kept(token: str) -> dict[str, str]:
    return {"secret": digest(token), "preview": token[:PREVIEW_CHARS]}
