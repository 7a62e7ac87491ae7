from dataclasses import replace
from typing import Any

import msgspec
import pytest

from longline.drivers.signals.local import LocalSignals
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.fetch.fetcher import Fetched
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.logs.run_log_writer import RunLogSettings, RunLogWriter
from longline.engine.parse.parser_results import Parsed
from longline.engine.worker.finished_task import Finished, FinishedBatch
from longline.engine.worker.page_log import ENTRIES, PageLog
from longline.engine.worker.reporter import Reporter, ReportParts
from longline.model.frontier.reasons import FINAL, OK, RETRYABLE, SKIPPED
from longline.model.frontier.retries import state_after
from longline.model.logs.run_log import NewLogEntry
from longline.testing.clock import FakeClock
from tests.engine.fakes import OWNER, RUN, part
from tests.engine.worker.test_reporter import Desk, done


class Heard:
    """A store of logs that keeps its calls."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.entries: list[NewLogEntry] = []

    async def open(self, run_id: int, _: list[NewLogEntry]) -> bool:
        self.opened.append(run_id)
        return True

    async def append(self, entries: list[NewLogEntry], _: Any) -> set[int]:
        self.entries += entries
        return set()


class TellingDesk(Desk):
    """A reporter with a page log, and the entries of the log."""

    def __init__(self, clock: FakeClock, level: str = "debug") -> None:
        super().__init__(clock)
        self.heard = Heard()
        self.said = RunLogWriter(part(self.heard), LocalSignals(), clock, RunLogSettings(level=level))
        keeper = SegmentWriter(part(self.blobs), part(self.segments), clock, OWNER)
        lifecycle: Lifecycle = self.reporter._lifecycle
        self.reporter = Reporter(lifecycle, keeper, clock, ReportParts([PageLog(self.said).save]))


def failed(finished: Finished, reason: str, **facts: Any) -> Finished:
    return replace(finished, fetched=Fetched(reason, 1, **facts), parsed=Parsed(), page=None)


async def test_the_end_of_each_page_is_logged(clock: FakeClock):
    desk = TellingDesk(clock)
    host = await desk.claim(1, 2, 3, 4)
    pages = [
        done(host, 1),
        failed(done(host, 2), "http_5xx", status=503, error="HTTP 503"),
        failed(done(host, 3), "http_4xx", status=404, error="HTTP 404"),
        failed(done(host, 4), "http_429", status=429),
    ]
    await desk.reporter.deliver(FinishedBatch(pages))
    await desk.said.write()
    assert desk.heard.opened == [RUN]
    assert [(e.level, e.topic, e.message) for e in desk.heard.entries] == [
        ("debug", "fetch", "page fetched"),
        ("warn", "queue", "page will be tried again"),
        ("error", "error", "page failed"),
        ("warn", "rate_limit", "page will be tried again"),
    ]
    fields = [e.fields or "" for e in desk.heard.entries]
    assert '"url":"https://a.example/1"' in fields[0]
    assert '"status":200' in fields[0]
    assert '"reason":"http_5xx"' in fields[1]
    assert '"error":"HTTP 404"' in fields[2]


async def test_entries_below_the_level_are_not_written_but_the_log_begins(clock: FakeClock):
    desk = TellingDesk(clock, level="info")
    host = await desk.claim(1)
    await desk.reporter.deliver(FinishedBatch([done(host, 1)]))
    await desk.said.write()
    assert (desk.heard.opened, desk.heard.entries) == ([RUN], [])


async def test_the_plan_of_a_run_raises_the_level_of_its_pages(clock: FakeClock):
    desk = TellingDesk(clock, level="info")
    host = await desk.claim(1, 2)
    plan = msgspec.structs.replace(done(host, 1).plan, page_log_level="info")
    refused = failed(done(host, 2), "http_4xx", status=404, error="HTTP 404")
    pages = [replace(done(host, 1), plan=plan), replace(refused, plan=plan)]
    await desk.reporter.deliver(FinishedBatch(pages))
    await desk.said.write()
    assert [(e.level, e.message) for e in desk.heard.entries] == [("info", "page fetched"), ("error", "page failed")]


@pytest.mark.parametrize("reason", sorted({OK, *RETRYABLE, *FINAL, *SKIPPED}))
def test_every_reason_has_a_log_entry(reason: str):
    assert {state_after(reason, 1, 4), state_after(reason, 4, 4)} <= set(ENTRIES)
