"""A reporter that also logs the outcome of each page in its run's log, and passes pages to hooks."""

from collections.abc import Sequence
from typing import Protocol

from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.worker.reporter import Delivered, Finished, FinishedBatch, Reporter
from longline.model.states import TaskState
from longline.ports.clock import Clock

SAID = {
    TaskState.COMPLETED: ("debug", "fetch", "page fetched"),
    TaskState.QUEUED_PARSE: ("debug", "fetch", "page fetched"),
    TaskState.SKIPPED: ("debug", "fetch", "page skipped"),
    TaskState.PENDING: ("warn", "queue", "page will be tried again"),
    TaskState.FAILED: ("error", "error", "page failed"),
}
"""Level, topic and message of the log entry for a page, by the state in which its task rests."""


class PageHook(Protocol):
    """A reader of reported pages, for the links in them."""

    async def save(self, pages: Sequence[Finished]) -> None:
        """Save the links of use."""


class LoggingReporter(Reporter):
    """A reporter that passes pages to the journal, where there is one, and to hooks after their report."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        keeper: SegmentWriter,
        clock: Clock,
        journal: RunLogWriter | None,
        *readers: PageHook,
    ) -> None:
        super().__init__(lifecycle, keeper, clock)
        self._journal, self._readers = journal, readers

    async def deliver(self, sheaf: FinishedBatch, *, whole: bool = False) -> Delivered:
        delivered = await super().deliver(sheaf, whole=whole)
        for done, _ in delivered:
            if self._journal is not None:
                for finished in done.finished:
                    _tell(self._journal, finished)
            for reader in self._readers:
                await reader.save(done.finished)
        return delivered


def _tell(journal: RunLogWriter, finished: Finished) -> None:
    run_id = finished.task.run_id
    journal.see(run_id)
    level, topic, message = SAID[finished.rest]
    topic = "rate_limit" if finished.reason == "http_429" else topic
    level = "warn" if finished.reason == "challenge" else level
    if not journal.wants(level, topic):
        return
    error = (finished.parsed.error if finished.parsed else None) or finished.fetched.error
    facts = {
        "url": finished.task.url,
        "depth": finished.task.depth,
        "attempt": finished.task.attempt,
        "reason": finished.reason,
        "status": finished.fetched.status,
        "bytes": len(finished.page.response.body) if finished.page else None,
        "fetch_ms": finished.page.response.elapsed_ms if finished.page else None,
        "error": error,
    }
    said = {name: value for name, value in facts.items() if value is not None}
    journal.say(run_id, level, topic, message, said)
