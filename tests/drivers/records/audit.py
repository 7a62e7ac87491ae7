"""Invariants of the rows, which hold at every commit: the list of their violations."""

import json
from collections import Counter, defaultdict
from typing import Any

from longline.model.frontier.standing_frontier import rest_of
from longline.model.recrawls.side_row import rest_of as rest_of_recrawl
from longline.model.states import ENDED, IN_HAND, RUN_ENDED
from tests.drivers.records.peek import Peek

Rows = list[tuple[Any, ...]]
SPENT = """
SELECT s.budget, s.admitted, SUM(u.admitted) FROM sources s JOIN runs_now u ON u.source_id = s.id
WHERE s.budget IS NOT NULL GROUP BY s.id, s.budget, s.admitted
HAVING s.admitted <> SUM(u.admitted) OR s.admitted > s.budget
"""
PRIORITIES = """
SELECT t.id, t.state FROM tasks t WHERE t.next_priority IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM queue q WHERE q.id = t.id)
"""
LISTED = """
SELECT t.id, t.run_id, s.rest, n.state, n.reason FROM tasks t
LEFT JOIN standing s ON s.id = t.id LEFT JOIN tasks n ON n.id = s.task_id
WHERE t.scope = 0 AND t.hops = 0
"""
RECRAWLS = """
SELECT t.id, c.source_id, c.rest, t.state, c.priority, COALESCE(t.next_priority, t.priority)
FROM tasks t LEFT JOIN recrawls c ON c.id = t.id WHERE t.scope < 0
"""
HEADS = """
SELECT url_hash, COUNT(*), SUM(CASE WHEN head THEN 1 ELSE 0 END), MAX(generation) FROM recrawls GROUP BY url_hash
"""
LISTED_ITEMS = """
SELECT u.id, u.items, p.task_id, p.items
FROM runs_now u LEFT JOIN tasks t ON t.run_id = u.id LEFT JOIN pages p ON p.task_id = t.id
WHERE u.items <> 0 OR p.items IS NOT NULL
"""
LATER_ITEMS = "SELECT run_id, task_id, item_id, version FROM item_pages"
TOTALS = """
SELECT kind, scheduled, state, SUM(runs), SUM(completed), SUM(failed), SUM(cancelled), SUM(skipped), SUM(timed), SUM(ms)
FROM (
    SELECT kind, number IS NOT NULL AS scheduled, state, 1 AS runs, completed, failed, cancelled, skipped,
           CASE WHEN ended_at - started_at IS NULL THEN 0 ELSE 1 END AS timed, COALESCE(ended_at - started_at, 0) AS ms
    FROM runs_now WHERE state IN ('completed', 'failed', 'cancelled')
    UNION ALL
    SELECT kind, scheduled, state, -runs, -completed, -failed, -cancelled, -skipped, -timed, -duration_ms
    FROM run_totals
) d GROUP BY kind, scheduled, state
"""
COUNTERS = ("open", "completed", "failed", "cancelled", "skipped")


async def faults(peek: Peek, now: int) -> list[str]:
    """Return every violation."""
    tasks = await peek.rows(
        "SELECT id, run_id, host_id, state, executor, due, priority, reason, finished_at FROM tasks"
    )
    queue = await peek.rows("SELECT id, host_id, due, priority, run_id, token FROM queue")
    offers = await peek.rows("SELECT id, executor, priority FROM offers")
    lines = await peek.rows("SELECT host_id, owner, wake_at, not_before, token FROM line")
    runs = await peek.rows(f"SELECT id, state, admitted, {', '.join(COUNTERS)} FROM runs_now")
    sources = await peek.rows(SPENT)
    fates = await peek.rows(
        "SELECT run_id, fate, reason, count FROM fates WHERE fate NOT IN ('refused', 'without_item') AND count <> 0"
    )
    totals = await peek.rows(TOTALS)
    standing = await peek.rows(LISTED)
    counts = await peek.rows("SELECT run_id, rest, count FROM standing_counts WHERE count <> 0")
    return [
        *_lists(standing, counts),
        *await _recrawls(peek),
        *_items(await peek.rows(LISTED_ITEMS), await peek.rows(LATER_ITEMS)),
        *_places(tasks, queue, offers),
        *_rests(tasks),
        *_sums(tasks, runs, fates),
        *(f"a task that waits for no worker has a next priority: {row}" for row in await peek.rows(PRIORITIES)),
        *(f"a source with the budget and the count {row[:2]} admitted {row[2]}" for row in sources),
        *_lines(lines, queue, now),
        *(f"the totals of ended runs are wrong by {row}" for row in totals if any(row[3:])),
    ]


def _lists(standing: Rows, counts: Rows) -> list[str]:
    """Check that every URL of the standing frontier is listed by its task's state, and counted where it is listed."""
    found = [
        f"URL {i} is listed as {rest}, and its task is {(state, reason)}"
        for i, _, rest, state, reason in standing
        if rest != (rest_of(state, reason) if state else None)
    ]
    listed = Counter((run, rest) for _, run, rest, _, _ in standing)
    counted = {(run, rest): count for run, rest, count in counts}
    return found + ([f"lists say {counted}, there are {dict(listed)}"] if counted != dict(listed) else [])


async def _recrawls(peek: Peek) -> list[str]:
    """Check that every recrawl has a side row in its task's state and is counted there, and that heads are the last."""
    rows = await peek.rows(RECRAWLS)
    found = [f"a recrawl has no side row, or another: {row}" for row in rows if row[2] != rest_of_recrawl(row[3])]
    found += [f"a recrawl is listed with another priority: {row}" for row in rows if row[4] != row[5]]
    listed = Counter((source_id, rest) for _, source_id, rest, *_ in rows)
    counts = await peek.rows("SELECT source_id, rest, count FROM recrawl_counts WHERE count <> 0")
    counted = {(source_id, rest): count for source_id, rest, count in counts}
    heads = [row for row in await peek.rows(HEADS) if (row[1], row[2]) != (row[3] + 1, 1)]
    found += [f"a chain has a gap, or no single head: {row}" for row in heads]
    return found + ([f"counts say {counted}, there are {dict(listed)}"] if counted != dict(listed) else [])


def _items(rows: Rows, later: Rows) -> list[str]:
    """Check that runs count the items that their pages list; a page lists an item of another page with a minus sign."""
    counted = {run_id: items for run_id, items, *_ in rows}
    listings = [(run_id, task_id, json.loads(items or "[]")) for run_id, _, task_id, items in rows]
    entries = [(run_id, item_id) for run_id, _, listing in listings for item_id, *_ in listing]
    listed = Counter(run_id for run_id, item_id in entries if item_id > 0)
    wrong = [(run_id, items, listed[run_id]) for run_id, items in counted.items() if items != listed[run_id]]
    found = [f"run {run_id} counts {items} items, its pages list {there}" for run_id, items, there in wrong]
    lost = {(run_id, -item_id) for run_id, item_id in entries if item_id < 0}.difference(entries)
    found += [f"no page of run {run_id} lists item {item_id} first" for run_id, item_id in sorted(lost)]
    known = {(run, task, -i, version) for run, task, listing in listings for i, version, *_ in listing if i < 0}
    found += [f"a page lists an item of another page, and no row says so: {row}" for row in known.difference(later)]
    return found + [f"a row says that a page lists an item of another page: {row}" for row in set(later) - known]


def _places(tasks: Rows, queue: Rows, offers: Rows) -> list[str]:
    """Check that an open task waits in exactly one place, and an ended one in none."""
    waiting = {(i, h, due, p, run) for i, run, h, s, e, due, p, *_ in tasks if s == "pending" and e == "fetch"}
    offered = {(i, "parse", p) for i, _, _, s, _, _, p, *_ in tasks if s in ("downloaded", "queued_parse")}
    offered |= {(i, "bot", p) for i, _, _, s, e, _, p, *_ in tasks if s in ("pending", "expired") and e == "bot"}
    queued, held_out = {row[:5] for row in queue}, set(offers)
    found = [f"waits for a worker but is not in the queue: {row}" for row in waiting - queued]
    found += [f"in the queue but does not wait: {row}" for row in queued - waiting]
    found += [f"waits to be taken but is not offered: {row}" for row in offered - held_out]
    return found + [f"offered but does not wait: {row}" for row in held_out - offered]


def _rests(tasks: Rows) -> list[str]:
    found = [f"rests in a state of the hand: {row}" for row in tasks if row[3] in IN_HAND]
    return found + [f"ended and open at once: {row}" for row in tasks if (row[3] in ENDED) != (row[8] is not None)]


def _sums(tasks: Rows, runs: Rows, fates: Rows) -> list[str]:
    """Check that the counts are those of the counted rows."""
    counted: defaultdict[int, Counter[str]] = defaultdict(Counter)
    ended: Counter[tuple[int, str, str]] = Counter()
    for _, run_id, _, state, _, _, _, reason, _ in tasks:
        counted[run_id][state if state in ENDED else "open"] += 1
        if state in ENDED:
            ended[run_id, state, reason] += 1
    found = []
    for run_id, state, admitted, *counts in runs:
        truth = [counted[run_id][column] for column in COUNTERS]
        if counts != truth or admitted != sum(truth):
            found.append(f"run {run_id} says {admitted} = {counts}, there are {truth}")
        if state in RUN_ENDED and truth[0]:
            found.append(f"run {run_id} is {state} with {truth[0]} open tasks")
        if state == "running" and admitted and not truth[0]:
            found.append(f"run {run_id} is running with nothing open")
    said = {(run, fate, reason): count for run, fate, reason, count in fates}
    if said != dict(ended):
        found.append(f"fates say {said}, there are {dict(ended)}")
    return found


def _lines(lines: Rows, queue: Rows, now: int) -> list[str]:
    """Check that a free host with work wakes when its first work is due, not later and not never."""
    first: dict[int, int] = {}
    for _, host_id, due, *_ in queue:
        first[host_id] = min(due, first.get(host_id, due))
    found = []
    tokens = {}
    for host_id, owner, wake_at, not_before, token in lines:
        tokens[host_id] = token
        if owner is not None and wake_at is None:
            found.append(f"host {host_id} is held without a deadline")
        if owner is None and host_id in first:
            latest = max(now, not_before, first[host_id])
            if wake_at is None or wake_at > latest:
                found.append(f"host {host_id} has work due at {first[host_id]} and wakes at {wake_at}, not by {latest}")
    return found + [f"a mark from the future: {row}" for row in queue if row[5] > tokens[row[1]]]
