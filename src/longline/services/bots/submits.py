"""Submits of bots: answers for tasks, stored once."""

from collections.abc import Sequence

import msgspec

from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.model.bots.bot_task import AnswerVerdict, BotAnswer, BotFinding
from longline.model.bots.idempotency_key import IDEMPOTENCY_WINDOW_MS
from longline.model.ids import task_id_of
from longline.model.object_keys import bot_page_key
from longline.ports.blobs import Blobs
from longline.services.bots.access import BotAccess, BotCredentials
from longline.services.group_commit import GROUP_WAIT_SECONDS, GroupCommit


class Submission(msgspec.Struct, frozen=True):
    """An answer as a bot sends it; `page` is the text of the page, and `submit` sets `found.page_key`."""

    task: str
    found: BotFinding | None = None
    page: str | None = None
    error: str = ""
    key: str | None = None


class BotSubmits:
    """The submits of bots; concurrent submits share one commit."""

    def __init__(self, lifecycle: BotLifecycle, access: BotAccess, blobs: Blobs) -> None:
        self._lifecycle, self._access, self._blobs = lifecycle, access, blobs
        self._submits: GroupCommit[BotAnswer, AnswerVerdict] = GroupCommit(
            self._submit, lambda answer: answer.task_id, pause=GROUP_WAIT_SECONDS
        )

    async def submit(self, credentials: BotCredentials, submission: Submission) -> AnswerVerdict:
        """Store a bot's answer for a task; return after a commit that it shares with concurrent answers."""
        await self._access.admit(credentials)
        ids = task_id_of(submission.task)
        if ids is None:
            return AnswerVerdict(refusal="missing")
        found = submission.found
        page_key = await self._store_page(submission.page) if found and submission.page is not None else None
        if found is not None:
            found = msgspec.structs.replace(found, page_key=page_key)
        # A key belongs to one task: a bot that always sends the same key must not get another task's verdict.
        key = f"{ids[0]}/{submission.key}" if submission.key else None
        verdict = await self._submits(BotAnswer(*ids, credentials.name, found, submission.error, key))
        gone = page_key if verdict.refusal is not None or verdict.replayed else verdict.replaced
        if gone is not None:
            await self._blobs.delete([gone])
        return verdict

    async def _submit(self, answers: Sequence[BotAnswer]) -> list[AnswerVerdict]:
        return await self._lifecycle.submit(answers, IDEMPOTENCY_WINDOW_MS)

    async def _store_page(self, page: str) -> str:
        key = bot_page_key()
        await self._blobs.put(key, page.encode())
        return key
