"""The report: how tasks ended and what they brought, in one transaction of short statements.

The order of statements is the argument: (1) one ordered lock over the lines of own and foreign hosts, tokens
compared; (2) queue rows taken away under their marks; (3) tasks put to rest; (4) pages and their segment; (5) new URLs;
(6) lines released and woken, looking at the queue in a later statement than the lock; (7) counters and events, runs
last because every report of a run waits for that row.
"""

from collections.abc import Iterable, Sequence

from longline.drivers.records.admission import admit, place
from longline.drivers.records.database import Tx
from longline.drivers.records.ledger import Ledger, Moved
from longline.model.host import HostReport
from longline.model.states import ENDED, TaskState
from longline.model.task import FETCH, PARSE, Outcome
from longline.ports.records.frontier import Admitted, Batch, Reported, Written

WAITS_FOR_PARSER = frozenset({TaskState.DOWNLOADED, TaskState.QUEUED_PARSE})


class Refused(Exception):
    """Part of a report came under a lease that is gone; raised to roll the whole back."""

    def __init__(self, reported: Reported) -> None:
        super().__init__("refused")
        self.reported = reported


async def write(tx: Tx, batch: Batch) -> Reported:
    """Write a batch that was worked on under host leases."""
    ledger = Ledger()
    placed = await place(tx, batch.admit)
    await lock(tx, batch.reports, (host_id for host_id, _ in placed))
    held = [(report, outcome) for report in batch.reports for outcome in report.outcomes]
    await _unqueue(tx, held)
    back = [(r.host_id, t.due, t.priority, t.id, r.token) for r in batch.reports for t in r.unstarted]
    await tx.batch("unmark_tasks", back)
    outcomes = [outcome for _, outcome in held]
    await settle(tx, outcomes, {o.task.id: r.host_id for r, o in held}, TaskState.PENDING, ledger)
    await keep(tx, outcomes, batch.segment)
    admitted, wake = await admit(tx, placed, len(batch.admit), ledger) if placed else (Admitted(0, 0, 0), {})
    released = sorted((r.host_id, r.not_before) for r in batch.reports if r.release)
    await tx.batch("release_lines", released)
    free = {host_id for host_id, _ in released}
    await tx.batch("wake_lines", sorted((h, due) for h, due in wake.items() if h not in free))
    ledger.refused(batch.refused)
    return Reported(admitted=admitted, ended_runs=await ledger.write(tx, "worker"))


async def lock(tx: Tx, reports: Sequence[HostReport], others: Iterable[int]) -> None:
    """Lock the lines and compare tokens: a host whose token moved makes the whole report void."""
    hosts = {r.host_id for r in reports}.union(others)
    tokens = {row["host_id"]: row["token"] for row in await tx.batch("lock_lines", [(h,) for h in sorted(hosts)])}
    if stale := frozenset(r.host_id for r in reports if tokens.get(r.host_id) != r.token):
        raise Refused(Reported(stale=stale))


async def _unqueue(tx: Tx, held: Sequence[tuple[HostReport, Outcome]]) -> None:
    rows = [(r.host_id, o.task.due, o.task.priority, o.task.id, r.token) for r, o in held]
    removed = {row["id"] for row in await tx.batch("unqueue_tasks", rows)}
    if gone := frozenset(o.task.id for _, o in held) - removed:
        raise Refused(Reported(gone=gone))


async def settle(tx: Tx, outcomes: Sequence[Outcome], hosts: dict[int, int], was: str, ledger: Ledger) -> None:
    """Put tasks to rest and, where the rest is an open one, back into the queue or among the offers."""
    rows = [
        (o.task.id, was, o.became, o.reason, o.error, o.status, o.task.attempt, o.due, _executor(o), _ended(o))
        for o in outcomes
    ]
    rested = {row["id"] for row in await tx.batch("rest_tasks", rows)}
    if gone := frozenset(o.task.id for o in outcomes) - rested:
        raise Refused(Reported(gone=gone))
    again = [o for o in outcomes if o.became == TaskState.PENDING]
    await tx.batch(
        "queue_tasks", [(hosts[o.task.id], o.due, o.task.priority, o.task.id, o.task.attempt) for o in again]
    )
    offered = [o for o in outcomes if o.became in WAITS_FOR_PARSER]
    await tx.batch("offer_tasks", [(o.task.id, PARSE, hosts[o.task.id], o.due, o.task.priority, 0) for o in offered])
    ledger.moved(Moved(o.task.id, o.task.run_id, was, o.became, o.reason) for o in outcomes)


def _executor(outcome: Outcome) -> str:
    return PARSE if outcome.became in WAITS_FOR_PARSER else FETCH


def _ended(outcome: Outcome) -> int | None:
    return outcome.at if outcome.became in ENDED else None


async def keep(tx: Tx, outcomes: Sequence[Outcome], segment: Written | None) -> None:
    """Name the pages and the segment that holds them."""
    pages = [(o.task.id, o.page) for o in outcomes if o.page]
    if segment is None:
        if pages:
            raise ValueError("pages need a segment")
        return
    rows = [
        (
            i,
            p.offset,
            p.length,
            p.digest,
            p.status,
            p.content_type,
            p.body_bytes,
            p.fetched_at,
            p.fetch_ms,
            p.url,
            p.title,
            p.etag,
            p.last_modified,
        )
        for i, p in pages
    ]
    await tx.batch("add_pages", rows, segment_id=segment.segment_id)
    stored = await tx.one("store_segment", id=segment.segment_id, records=segment.records, bytes=segment.bytes)
    if stored is None:
        raise Refused(Reported(gone=frozenset(i for i, _ in pages)))
