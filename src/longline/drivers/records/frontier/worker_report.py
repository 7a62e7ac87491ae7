"""The report: outcomes of tasks with their pages, items and new URLs, in one transaction of short statements.

Correctness rests on the order of statements: (1) one ordered lock over the lines of own and foreign hosts, tokens
compared; (2) queue rows deleted under their marks; (3) tasks put to rest and, after a redirect, renamed; (4) items,
then pages with the lists of their items, and their segment; (5) new URLs, and links that lead elsewhere; (6) lines
released and woken, reading the queue in a later statement than the lock; (7) counters, positions of items and events,
late because every report of a run waits for the run's row; (8) sums of requests.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import astuple

from longline.drivers.records.database import Transaction
from longline.drivers.records.discovery.candidates import note_findings
from longline.drivers.records.discovery.links import save_links, update_links
from longline.drivers.records.frontier import recrawl_list
from longline.drivers.records.frontier.admission import admit, host_ids, place
from longline.drivers.records.frontier.download_results import finish_downloads
from longline.drivers.records.frontier.request_sums import count_requests
from longline.drivers.records.frontier.standing_list import follow
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters
from longline.drivers.records.search.found_series import log_finds, note_series
from longline.drivers.records.search.item_versions import Written, put
from longline.model.frontier.host import HostReport
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import BOT, FETCH, PARSE, ClaimedTask, Outcome, PageFacts, RedirectFacts
from longline.model.runs.run import WITHOUT_ITEM
from longline.model.states import ENDED, WAITS_FOR_PARSER, TaskState
from longline.ports.records.frontier.frontier import Admitted, ReportBatch, Reported, WrittenSegment


class StaleReport(Exception):
    """A report with a part under a lost lease; raised to roll the whole report back."""

    def __init__(self, reported: Reported) -> None:
        super().__init__("refused")
        self.reported = reported


class TaskPlace(NamedTuple):
    """The host of a task, and the executor that had the task."""

    host_id: int
    executor: str


async def write(tx: Transaction, batch: ReportBatch) -> Reported:
    """Write a batch that was worked on under host leases."""
    ledger = RunCounters()
    placed = await place(tx, batch.admit)
    reported_outcomes = [(report, outcome) for report in batch.reports for outcome in report.outcomes]
    places = await _places_after(tx, reported_outcomes)
    await lock_hosts(tx, batch.reports, [*(host_id for host_id, _ in placed), *(p.host_id for p in places.values())])
    outcomes = without_repeats([outcome for _, outcome in reported_outcomes])
    await _remove_from_queue(tx, reported_outcomes)
    back = [(*_queue_key(r, t), r.token) for r in batch.reports for t in r.unstarted]
    await tx.batch("unmark_tasks", back)
    await rest_tasks(tx, outcomes, places, TaskState.PENDING, ledger)
    await _move_redirected(tx, outcomes, places)
    await finish_downloads(tx, outcomes)
    await _rename(tx, outcomes)
    parsed = [o.task.id for o in outcomes if _is_parsed(o)]
    written = await put(tx, batch.items, ledger, parsed)
    series = await note_series(tx, batch.items)
    await store_pages(tx, outcomes, batch.segment, batch.redirects, written)
    described = [(o.task.id, o.described, written.of(o.task.id)) for o in outcomes if o.described is not None]
    await tx.batch("describe_pages", described)
    admitted, wake = await admit(tx, batch.admit, placed, ledger) if placed else (Admitted(0, 0, 0), {})
    await write_links(tx, batch)
    _wake_elsewhere(tx, reported_outcomes, places, wake)
    await tx.batch("pace_hosts", sorted((r.host_id, *astuple(r.pace)) for r in batch.reports if r.pace))
    released = sorted((r.host_id, r.not_before) for r in batch.reports if r.release)
    await tx.batch("release_lines", released)
    await tx.batch("hold_lines", sorted((r.host_id, r.not_before) for r in batch.reports if not r.release))
    free = {host_id for host_id, _ in released}
    await tx.batch("wake_lines", sorted((h, due) for h, due in wake.items() if h not in free))
    ledger.count_apart(batch.refused, stored=batch.refused_urls)
    ledger.count_apart(batch.without_item, WITHOUT_ITEM)
    ledger.spent(batch.cpu_ms, batch.memory_mb)
    ended = await ledger.write(tx, "worker")
    await count_requests(tx, outcomes)
    await log_finds(tx, series, written.new)
    return Reported(admitted=admitted, ended_runs=ended, done_runs=ledger.done_runs)


async def write_links(tx: Transaction, batch: ReportBatch) -> None:
    """Write the links that lead away from the sites of runs, and the places that they lead to."""
    if batch.links:
        await save_links(tx, batch.links)
    if batch.link_details:
        await update_links(tx, batch.link_details)
    await note_findings(tx, batch.findings)
    await tx.batch("add_recrawl_finds", [astuple(find) for find in batch.finds])


async def _places_after(
    tx: Transaction, reported_outcomes: Sequence[tuple[HostReport, Outcome]]
) -> dict[int, TaskPlace]:
    """Return the places of tasks after the report: a redirected task moves on, any other one is at home."""
    ids = await host_ids(tx, {o.redirected.host for _, o in reported_outcomes if o.redirected})
    hosts = {
        o.task.id: ids[o.redirected.host] if o.redirected else o.task.home_id or r.host_id for r, o in reported_outcomes
    }
    # One place for each host, as most tasks of a report share theirs.
    places = {host_id: TaskPlace(host_id, FETCH) for host_id in set(hosts.values())}
    return {task_id: places[host_id] for task_id, host_id in hosts.items()}


async def _move_redirected(tx: Transaction, outcomes: Sequence[Outcome], places: Mapping[int, TaskPlace]) -> None:
    """Move redirected tasks to the hosts of their targets, and bring others home."""
    away = [
        (o.task.id, places[o.task.id].host_id, o.redirected.url, o.redirected.hops) for o in outcomes if o.redirected
    ]
    await tx.batch("bring_tasks_home", [(o.task.id,) for o in outcomes if o.task.home_id and not o.redirected])
    await tx.batch("move_tasks_away", away)
    moved = {places[o.task.id].host_id for o in outcomes if o.task.download and (o.redirected or o.task.home_id)}
    await tx.batch("mark_downloads", [(host_id,) for host_id in sorted(moved)])


def _wake_elsewhere(
    tx: Transaction,
    reported_outcomes: Sequence[tuple[HostReport, Outcome]],
    places: Mapping[int, TaskPlace],
    wake: dict[int, int],
) -> None:
    """Add the hosts that get tasks from other hosts to those that are to be woken, each with its earliest due time."""
    for report, outcome in reported_outcomes:
        host_id = places[outcome.task.id].host_id
        if outcome.became == TaskState.PENDING and host_id != report.host_id:
            due = max(tx.now, outcome.due)
            wake[host_id] = min(due, wake.get(host_id, due))


async def _rename(tx: Transaction, outcomes: Sequence[Outcome]) -> None:
    """Rename tasks to the URLs of their pages, unless another task has the URL already."""
    names = {(o.task.scope, o.renamed.key): (o.task.id, o.renamed.url, o.renamed.key) for o in outcomes if o.renamed}
    await tx.batch("rename_tasks", list(names.values()))


def without_repeats(outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes; raise `StaleReport` if a task has two: one of the two came under a lost lease."""
    if len({o.task.id for o in outcomes}) < len(outcomes):
        times = Counter(o.task.id for o in outcomes)
        raise StaleReport(Reported(gone=frozenset(i for i, n in times.items() if n > 1)))
    return outcomes


async def lock_hosts(tx: Transaction, reports: Sequence[HostReport], others: Iterable[int]) -> None:
    """Lock the lines and compare tokens: one host with another token makes the whole report void."""
    hosts = {r.host_id for r in reports}.union(others)
    tokens = {row["host_id"]: row["token"] for row in await tx.batch("lock_lines", [(h,) for h in sorted(hosts)])}
    if stale := frozenset(r.host_id for r in reports if tokens.get(r.host_id) != r.token):
        raise StaleReport(Reported(stale=stale))


def _queue_key(report: HostReport, task: ClaimedTask) -> tuple[int, ...]:
    """Return the key of a claimed task in the queue."""
    return report.host_id, task.due, task.priority, task.run_id, task.id


async def _remove_from_queue(tx: Transaction, reported_outcomes: Sequence[tuple[HostReport, Outcome]]) -> None:
    rows = [(*_queue_key(r, o.task), r.token) for r, o in reported_outcomes]
    removed = {row["id"] for row in await tx.batch("unqueue_tasks", rows)}
    if gone := frozenset(o.task.id for _, o in reported_outcomes) - removed:
        raise StaleReport(Reported(gone=gone))


async def rest_tasks(
    tx: Transaction, outcomes: Sequence[Outcome], places: Mapping[int, TaskPlace], was: str, ledger: RunCounters
) -> None:
    """Put tasks to rest, and open tasks back into the queue or among the offers."""
    nexts = {o.task.id: _next_executor(o, places[o.task.id]) for o in outcomes}
    rows = [_rest_row(o, was, nexts[o.task.id]) for o in outcomes]
    priorities = {row["id"]: row["priority"] for row in await tx.batch("rest_tasks", rows)}
    if gone := frozenset(o.task.id for o in outcomes) - priorities.keys():
        raise StaleReport(Reported(gone=gone))
    queued, offered = [], []
    for o in [o for o in outcomes if o.became not in ENDED]:
        i, place, executor = o.task.id, places[o.task.id], nexts[o.task.id]
        # Attempts are counted while a task stays with the same kind of worker.
        attempt = o.attempts if o.attempts is not None else o.task.attempt if executor == place.executor else 0
        if executor == FETCH:
            queued.append((place.host_id, o.due, priorities[i], o.task.run_id, i, attempt))
        else:
            offered.append((i, executor, place.host_id, o.due, priorities[i], attempt))
    await tx.batch("queue_tasks", queued)
    await tx.batch("offer_tasks", offered)
    ledger.count_moves(MovedTasks(o.task.id, o.task.run_id, was, o.became, o.reason) for o in outcomes)
    await follow(tx, ledger, [o.task.id for o in outcomes if o.task.scope == SCOPE])
    if recrawled := [o for o in outcomes if o.task.scope < 0]:
        retried = {o.task.id: o.task.attempt for o in recrawled if not o.redirected}
        await recrawl_list.follow(tx, ledger, [o.task.id for o in recrawled], attempts=retried)


def _rest_row(o: Outcome, was: str, executor: str) -> tuple[object, ...]:
    """Return the values of a task that comes to rest."""
    ended_at = o.at if o.became in ENDED else None
    place = (o.task.attempt, o.due, executor, ended_at)
    return (o.task.id, was, o.became, o.reason, o.error, o.status, *place, o.proxy_id, o.began_at)


def _next_executor(outcome: Outcome, place: TaskPlace) -> str:
    """Return the next executor of the task: a bot's task that needs no parser stays with bots."""
    if outcome.became in WAITS_FOR_PARSER:
        return PARSE
    return BOT if place.executor == BOT else FETCH


def _is_parsed(outcome: Outcome) -> bool:
    """Return whether the page gets a new list of items; a page that waits for its parser keeps the former list."""
    return outcome.described is not None or (outcome.page is not None and outcome.became not in WAITS_FOR_PARSER)


async def store_pages(
    tx: Transaction,
    outcomes: Sequence[Outcome],
    segment: WrittenSegment | None,
    redirects: Sequence[RedirectFacts] = (),
    items: Written | None = None,
) -> None:
    """Store the facts of pages and redirects, and of the segment that holds them.

    Each page that was parsed gets the list of its items.
    """
    pages = [(o.task.id, o.page) for o in outcomes if o.page]
    lists = {o.task.id: items.of(o.task.id) for o in outcomes if _is_parsed(o)} if items else {}
    if segment is None:
        if pages:
            raise ValueError("pages need a segment")
        return
    if not pages and not redirects:
        raise ValueError("a segment needs pages")
    stored = await tx.one("store_segment", id=segment.segment_id, records=segment.records, bytes=segment.bytes)
    if stored is None:
        raise StaleReport(Reported(gone=frozenset((*(i for i, _ in pages), *(r.task_id for r in redirects)))))
    rows = [
        (
            i,
            p.start,
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
            p.body_of,
            lists.get(i),
        )
        for i, p in pages
    ]
    await tx.batch("add_pages", rows, segment_id=segment.segment_id)
    await tx.batch("remember_visits", [_visit_row(o.task.id, o.page) for o in outcomes if o.page and not o.strayed])
    await tx.batch("add_redirects", [astuple(r) for r in redirects], segment_id=segment.segment_id)


def _visit_row(task_id: int, page: PageFacts) -> tuple[int | str | None, ...]:
    return (task_id, page.body_of or task_id, page.digest, page.fetched_at, page.etag, page.last_modified)
