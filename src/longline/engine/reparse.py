"""Parsing apart from fetching: pages are read back from the archive, no request is made."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from longline.engine.admit import Admission, Verdicts
from longline.engine.archive import Archive
from longline.engine.lifecycle import Lifecycle
from longline.engine.parse import Parsed, Parser
from longline.engine.plans import Plans
from longline.model.encoding import Undecodable
from longline.model.errors import NotFound, Unavailable
from longline.model.fate import OK
from longline.model.states import TaskState
from longline.model.task import PARSE, Outcome
from longline.model.warc import DamagedRecord
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records.frontier import Batch, Reported
from longline.ports.records.hands import TaskLease
from longline.ports.records.tasks import Tasks

log = logging.getLogger(__name__)

Done = tuple[TaskLease, Outcome, Parsed]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a parsing worker works with. Times are seconds."""

    lifecycle: Lifecycle
    tasks: Tasks
    plans: Plans
    blobs: Blobs
    parser: Parser
    clock: Clock
    owner: int
    lease: float = 30.0
    batch: int = 64
    idle_poll: float = 0.5


class ParseWorker:
    """Takes pages that wait for a parser, parses them and gives them back."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._archive = Archive(parts.tasks, parts.blobs)
        self._verdicts = Verdicts()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop; a batch that was begun is finished."""
        while not stop.is_set():
            try:
                busy = await self.once()
            except Unavailable as error:
                log.warning("cannot parse", extra={"error": str(error)})
                busy = False
            if not busy:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._parts.idle_poll)

    async def once(self) -> bool:
        """One batch; False when there was nothing to do."""
        p = self._parts
        renewed = p.clock.monotonic()
        leases = await p.lifecycle.take(PARSE, p.owner, p.batch, round(p.lease * 1000))
        done: list[Done] = []
        for lease in leases:
            done.append((lease, *await self._parse(lease)))
            if p.clock.monotonic() - renewed > p.lease / 3:
                renewed = p.clock.monotonic()
                await self._renew(leases)
        while done:
            reported = await self._give(done)
            if not reported.refused:
                break
            # Somebody paused, cancelled or restarted these: they are not ours to bring back any more.
            done = [d for d in done if d[0].task.id not in reported.gone]
        return bool(leases)

    async def _renew(self, leases: list[TaskLease]) -> None:
        held = [(lease.task.id, lease.token) for lease in leases]
        await self._parts.lifecycle.renew_taken(self._parts.owner, held, round(self._parts.lease * 1000))

    async def _give(self, done: list[Done]) -> Reported:
        admission = Admission(self._verdicts)
        for lease, _, parsed in done:
            plan = await self._parts.plans.get(lease.task.run_id)
            admission.links(lease.task, parsed.links, plan, parsed.priorities)
            admission.beside(lease.task, parsed.beside, plan, parsed.priorities)
        items = [item for _, o, parsed in done if o.page for item in parsed.items_of(o.task, o.page.url)]
        batch = Batch(admit=admission.tasks, refused=admission.refused, items=items)
        given = [(lease.token, outcome) for lease, outcome, _ in done]
        reported = await self._parts.lifecycle.give(given, batch, admission.hosts)
        if not reported.refused and not reported.admitted.over_budget:
            self._verdicts.took(admission.tasks)
        return reported

    async def _parse(self, lease: TaskLease) -> tuple[Outcome, Parsed]:
        now = self._parts.clock.now()
        try:
            page, facts = await self._archive.page(lease.task.id)
        except (NotFound, DamagedRecord, Undecodable) as error:
            return Outcome(lease.task, TaskState.FAILED, "page_lost", now, error=str(error)), Parsed()
        except Unavailable:
            raise
        except Exception as error:
            # It would come again, first in line, and nothing behind it would ever be parsed.
            log.exception("a page failed in a way nobody foresaw", extra={"task": lease.task.id})
            return Outcome(lease.task, TaskState.FAILED, "internal", now, error=repr(error)), Parsed()
        page.config = (await self._parts.plans.get(lease.task.run_id)).config
        parsed = await self._parts.parser.parse(page)
        if parsed.error:
            return Outcome(lease.task, TaskState.FAILED, "parser_error", now, error=parsed.error), parsed
        named = msgspec.structs.replace(facts, title=parsed.title)
        return Outcome(lease.task, TaskState.COMPLETED, OK, now, status=facts.status, page=named), parsed
