"""Group commit: calls that arrive while a batch is under way become the next batch."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from longline.model.errors import LonglineError

A = TypeVar("A")
B = TypeVar("B")

GROUP_WAIT_SECONDS = 0.002
"""Seconds for which a group commit of a busy service waits for more calls."""


class GroupCommit(Generic[A, B]):
    """An executor that carries calls out in batches and answers each call when its batch is done.

    Calls with the same `key` never share a batch: the later call waits for the next. A single call is carried out at
    once; while more calls wait, the next batch waits `pause` seconds for callers that were just answered.
    """

    def __init__(
        self,
        act: Callable[[Sequence[A]], Awaitable[Sequence[B]]],
        key: Callable[[A], Hashable],
        max_batch: int = 256,
        pause: float = 0.0,
    ) -> None:
        self._act, self._key, self._max_batch, self._pause = act, key, max_batch, pause
        self._waiting: deque[tuple[A, asyncio.Future[B]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, one: A) -> B:
        """Carry one call out, together with other waiting calls."""
        done: asyncio.Future[B] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, done))
        if self._running is None:
            # A context of its own: the batch belongs to none of its callers.
            self._running = asyncio.create_task(self._run(), context=Context())
        return await done

    async def _run(self) -> None:
        try:
            while self._waiting:
                await self._carry_out(self._next())
                if self._pause and self._waiting:
                    await asyncio.sleep(self._pause)
        finally:
            self._running = None

    def _next(self) -> list[tuple[A, "asyncio.Future[B]"]]:
        batch: dict[Hashable, tuple[A, asyncio.Future[B]]] = {}
        later: list[tuple[A, asyncio.Future[B]]] = []
        while self._waiting and len(batch) < self._max_batch:
            one = self._waiting.popleft()
            if batch.setdefault(self._key(one[0]), one) is not one:
                later.append(one)
        self._waiting.extendleft(reversed(later))
        return list(batch.values())

    async def _carry_out(self, batch: Sequence[tuple[A, "asyncio.Future[B]"]]) -> None:
        try:
            answers = await self._act([one for one, _ in batch])
        except Exception as error:
            # One call may be the cause, so each is tried alone; a LonglineError (engine away) is no fault of a call.
            if len(batch) > 1 and not isinstance(error, LonglineError):
                for single in batch:
                    await self._carry_out([single])
                return
            for _, done in batch:
                if not done.done():
                    done.set_exception(error)
            return
        for (_, done), answer in zip(batch, answers, strict=True):
            if not done.done():
                done.set_result(answer)
