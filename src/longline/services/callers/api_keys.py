"""API keys: made and shown once, revoked, and looked up with each request."""

import logging
from collections.abc import Sequence

from longline.model.callers.api_key import ApiKeyParts, ApiKeyRow, NewApiKey, digest, new_key
from longline.model.errors import NotFound
from longline.ports.clock import Clock
from longline.ports.records.callers import ApiKeyStore
from longline.services.callers.tokens import TokenRefused
from longline.services.group_commit import GroupCommit

_log = logging.getLogger(__name__)


class ApiKeys:
    """The API keys; concurrent look-ups share one query."""

    def __init__(self, store: ApiKeyStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._known: GroupCommit[str, ApiKeyRow | None] = GroupCommit(self._look_up, lambda _: object())

    async def create(self, key: NewApiKey) -> tuple[ApiKeyRow, str]:
        """Make a key; return its row and its text, which is never shown again."""
        key.check()
        made = new_key()
        return await self._store.add(key, made.uid, digest(made.secret)), made.text

    async def find(self, limit: int, before_id: int | None = None) -> list[ApiKeyRow]:
        """Return keys, newest first; `before_id` continues a list."""
        return await self._store.find(limit=limit, before_id=before_id)

    async def revoke(self, uid: str) -> ApiKeyRow:
        """Revoke a key for good; raise `NotFound` for an unknown id."""
        row = await self._store.revoke(uid)
        if row is None:
            raise NotFound("API key", uid)
        return row

    async def verify(self, given: ApiKeyParts) -> ApiKeyRow:
        """Return the row of a key in force; raise `TokenRefused` for any other."""
        row = await self._known(given.uid)
        refusal = "wrong" if row is None else row.refusal(given.secret, self._clock.now())
        if row is None or refusal is not None:
            _log.info("API key refused", extra={"why": refusal, "key": given.uid[:32]})
            raise TokenRefused("key")
        if not row.was_used_lately(self._clock.now()):
            await self._store.touch([row.id])
        return row

    async def _look_up(self, uids: Sequence[str]) -> list[ApiKeyRow | None]:
        found = await self._store.get(sorted(set(uids)))
        return [found.get(uid) for uid in uids]
