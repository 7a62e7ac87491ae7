"""Random runs are deleted between random reports, on both engines: no row dangles, no kept page is lost.

`LONGLINE_TEST_EXAMPLES` sets the number of examples.
"""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from longline.drivers.records import open_records
from longline.engine.runs.retention import Retention, RunDeleter
from longline.model.errors import Conflict
from longline.model.frontier.task import ClaimedTask, Outcome, PageFacts
from longline.model.ids import new_id
from longline.model.runs.retention import BODY_GRACE_MS, RetentionAges
from longline.model.runs.run import NewRun, RunKind
from longline.model.search.item import Origin, new_items
from longline.model.states import TaskState
from longline.ports.records.frontier.frontier import Change, WrittenSegment
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import COUNTERS, TOTALS
from tests.drivers.records.peek import Peek
from tests.drivers.records.references import dangling
from tests.drivers.records.world import ME, admit, claim, host_report, report, url
from tests.engine.runs.objects import Objects

DAY_MS = 86_400_000
RECORD_BYTES = 32
AGES = RetentionAges(
    crawls_ms=20 * DAY_MS,
    scheduled_ms=20 * DAY_MS,
    service_ms=5 * DAY_MS,
    standing_ms=10 * DAY_MS,
    bots_ms=10 * DAY_MS,
    events_ms=15 * DAY_MS,
    visits_ms=30 * DAY_MS,
)
KINDS = (RunKind.CRAWL, RunKind.FEED_POLL, RunKind.STANDING_MANUAL)
T = TypeVar("T")


class Machine(RuleBasedStateMachine):
    """A database with random crawls and deletions."""

    def __init__(self, records_url: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock, self.blobs, self.logs = FakeClock(), Objects(), Objects()
        self.peek = Peek(records_url)
        self.run(self.peek.wipe())
        self.records = self.run(open_records(records_url, self.clock))
        self.deleter = RunDeleter(self.records.retention, self.blobs, self.logs)
        self.retention = Retention(
            self.records.retention, self.records.candidates, self.deleter, self.blobs, AGES, self.clock
        )

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @rule(kind=st.sampled_from(KINDS), paths=st.sets(st.integers(0, 3), min_size=1), host=st.sampled_from("ab"))
    def start(self, kind: RunKind, paths: set[int], host: str) -> None:
        """Give URLs to a new run, or to the standing one."""

        async def work() -> None:
            made = self.records.runs.ensure if kind.standing else self.records.runs.add
            run = await made(NewRun(new_id(), kind, "{}", f"seed{host}"))
            if run.state == "queued" and not kind.standing:
                await self.records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
            scope = {"scope": 0} if kind.standing else {}
            await admit(self.records, *(url(run, f"{host}.example", f"/{path}", **scope) for path in paths))

        self.run(work())

    @rule(data=st.data())
    def work(self, data: st.DataObject) -> None:
        """Fetch all tasks that are due: pages that are new, pages that have not changed, and failures."""

        async def work() -> None:
            for _, lease in sorted((await claim(self.records)).items()):
                key = f"segments/{new_id()}"
                record = bytearray()
                tasks = sorted(lease.tasks, key=lambda task: (task.url, task.id))
                outcomes = [self._outcome(task, data, record) for task in tasks]
                pages = [o for o in outcomes if o.page]
                segment = None
                if pages:
                    await self.blobs.put(key, bytes(record))
                    segment = WrittenSegment(await self.records.segments.begin(key, ME), len(pages), len(record))
                items = [
                    item
                    for o in pages
                    for item in new_items(
                        [("thing", {"size": data.draw(st.integers(0, 2))})],
                        Origin(o.task.run_id, o.task.id, o.task.url),
                    )
                ]
                said = host_report(lease, outcomes)
                assert not (await report(self.records, said, segment=segment, items=items)).refused

        self.run(work())

    def _outcome(self, task: ClaimedTask, data: st.DataObject, record: bytearray) -> Outcome:
        at, drawn = self.clock.now(), data.draw(st.sampled_from(["new", "same", "same", "failed"]))
        if drawn == "failed":
            return Outcome(task, TaskState.FAILED, "http_4xx", at, status=404)
        earlier = task.earlier if drawn == "same" else None
        digest = earlier.digest if earlier else f"d{task.id}"
        start = len(record)
        record += (b"" if earlier else digest.encode()).ljust(RECORD_BYTES)
        body_of = earlier.task_id if earlier else None
        page = PageFacts(start, RECORD_BYTES, digest, 200, "text/html", 9, at, 1, task.url, body_of=body_of)
        return Outcome(task, TaskState.COMPLETED, "ok", at, status=200, page=page)

    @rule(choice=st.integers(0, 50), pieces=st.integers(0, 4))
    def delete(self, choice: int, pieces: int) -> None:
        """Delete a run; with pieces, stop after so many of them, as a kill does."""

        async def work() -> None:
            runs = await self.records.runs.find(limit=100)
            if not runs:
                return
            run_id = runs[choice % len(runs)].id
            try:
                if pieces:
                    if await self.deleter.mark(run_id):
                        for _ in range(pieces):
                            await self.records.retention.delete_piece(run_id, 1)
                else:
                    await self.deleter.delete(run_id)
            except Conflict:
                assert runs[choice % len(runs)].state in ("queued", "running")

        self.run(work())

    @rule(days=st.integers(0, 12))
    def wait(self, days: int) -> None:
        """Let the loop run after some days; a lapsed lease is not part of this test."""
        self.clock.advance(days * DAY_MS / 1000)
        self.run(self.retention.once())

    @invariant()
    def every_reference_leads_to_a_row(self) -> None:
        assert self.run(dangling(self.peek)) == []

    @invariant()
    def every_page_of_a_kept_run_is_readable(self) -> None:
        async def work() -> None:
            for (task_id,) in await self.peek.rows("SELECT task_id FROM pages"):
                row = await self.records.pages.get(task_id)
                assert row is not None
                holder = await self.records.pages.get(row.body_of) if row.body_of else row
                assert holder is not None, f"the body of task {task_id} is lost"
                body = await self.blobs.get_range(holder.segment, holder.start, holder.length)
                assert body.strip() == row.digest.encode()

        self.run(work())

    @invariant()
    def sums_are_right(self) -> None:
        async def work() -> None:
            assert [row for row in await self.peek.rows(TOTALS) if any(row[3:])] == []
            wrong = await self.peek.rows(WRONG_SUMS)
            assert wrong == [], wrong
            listed = await self.peek.rows(WRONG_LISTS)
            assert listed == [], listed

        self.run(work())

    async def settle_down(self) -> None:
        """Bring every deletion to its end: afterwards no segment and no object is left without a page."""
        for _ in range(3):
            self.clock.advance(AGES.visits_ms / 1000 + BODY_GRACE_MS / 1000)
            await self.retention.once()
        named = (
            "SELECT segment_id FROM pages UNION SELECT segment_id FROM redirects UNION SELECT segment_id FROM bodies"
        )
        assert await self.peek.rows(f"SELECT id FROM segments WHERE state = 'stored' AND id NOT IN ({named})") == []
        keys = {key for (key,) in await self.peek.rows("SELECT key FROM segments")}
        assert {key for key in self.blobs.objects if key.startswith("segments/")} <= keys
        assert await self.peek.value("SELECT COUNT(*) FROM runs WHERE deleted_at IS NOT NULL") == 0
        ended_runs = await self.peek.value("SELECT COUNT(*) FROM runs WHERE ended_at IS NOT NULL")
        assert ended_runs == 0, "all ended runs are too old by now"
        for table in ("pages", "bodies", "visits", "segments"):
            assert await self.peek.value(f"SELECT COUNT(*) FROM {table}") == 0, table

    def teardown(self) -> None:
        self.run(self.settle_down())
        self.run(self.peek.close())
        self.run(self.records.schema.close())
        self.runner.close()


WRONG_SUMS = f"""
SELECT u.id, {", ".join(f"u.{c}" for c in COUNTERS)}, t.there FROM runs_now u
JOIN (SELECT r.id, (SELECT COUNT(*) FROM tasks t WHERE t.run_id = r.id) AS there FROM runs r) t ON t.id = u.id
WHERE (NOT u.standing AND u.admitted <> t.there) OR u.admitted < t.there
   OR u.open <> (SELECT COUNT(*) FROM tasks t WHERE t.run_id = u.id AND t.state NOT IN ('completed', 'skipped', 'failed', 'cancelled'))
"""  # noqa: E501 - one statement

WRONG_LISTS = """
SELECT c.run_id, c.rest, c.count FROM standing_counts c
WHERE c.count <> (SELECT COUNT(*) FROM standing s WHERE s.run_id = c.run_id AND s.rest = c.rest)
"""


@pytest.mark.slow(reason="many examples")
def test_runs_are_deleted_between_reports(records_url: str):
    examples = int(os.environ.get("LONGLINE_TEST_EXAMPLES", "6"))
    rules = settings(
        max_examples=examples, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    # The factory need not be a class.
    run_state_machine_as_test(lambda: Machine(records_url), settings=rules)  # type: ignore[arg-type]
