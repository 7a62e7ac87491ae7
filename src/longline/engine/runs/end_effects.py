"""The worker of the outbox of run ends: takes effects under a lease and passes each to the handler of its kind.

An effect inside the database is deleted in the transaction that carries it out, so it happens exactly once. An effect
outside of the database is deleted after it was carried out: a kill in between repeats the effect, and its receiver
knows the repeat by the id of the effect.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

from longline.model.back_off import back_off
from longline.model.errors import Unavailable
from longline.model.runs.end_effect import (
    LEASE_MS,
    MAX_RETRY_DELAY_SECONDS,
    RETRY_DELAY_SECONDS,
    RunEffect,
    RunEffectKind,
)
from longline.ports.records.runs.runs import RunEffectStore

log = logging.getLogger(__name__)

BATCH_SIZE = 100

EffectHandler = Callable[[RunEffect], Awaitable[bool]]
"""A function that carries an effect out and closes it; returns False when the lease on the effect was lost."""


class RunEffectWorker:
    """The worker that carries out the effects of run ends; a failed effect is tried again, and never dropped."""

    def __init__(
        self, effects: RunEffectStore, handlers: Mapping[RunEffectKind, EffectHandler], lease_ms: int = LEASE_MS
    ) -> None:
        self._effects, self._handlers, self._lease_ms = effects, handlers, lease_ms

    async def once(self) -> int:
        """Carry out every effect that is due; return how many."""
        done, taken = 0, BATCH_SIZE
        while taken == BATCH_SIZE:
            batch = await self._effects.take(tuple(self._handlers), BATCH_SIZE, self._lease_ms)
            taken = len(batch)
            done += sum([await self._carry_out(effect) for effect in batch])
        return done

    async def _carry_out(self, effect: RunEffect) -> bool:
        """Carry out one effect; return False when it failed or another process has it."""
        try:
            return await self._handlers[effect.kind](effect)
        except Unavailable:
            raise
        except Exception as error:
            wait = back_off(RETRY_DELAY_SECONDS, effect.attempt - 1, MAX_RETRY_DELAY_SECONDS)
            log.warning(
                "effect of a run end failed, will retry",
                extra={"kind": effect.kind, "run_id": effect.run_id, "attempt": effect.attempt, "error": repr(error)},
            )
            await self._effects.put_back(effect, round(wait * 1000), repr(error))
            return False
