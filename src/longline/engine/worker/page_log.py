"""The entries of a run's log about the outcome of each page."""

from collections.abc import Sequence

from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.worker.finished_task import Finished
from longline.model.downloads.download import DownloadOrder, DownloadResult
from longline.model.frontier.retries import pause_before_retry
from longline.model.frontier.task import Outcome
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.states import TaskState

ENTRIES = {
    TaskState.COMPLETED: ("debug", "fetch", "page fetched"),
    TaskState.QUEUED_PARSE: ("debug", "fetch", "page fetched"),
    TaskState.SKIPPED: ("debug", "fetch", "page skipped"),
    TaskState.PENDING: ("warn", "queue", "page will be tried again"),
    TaskState.DOWNLOADED: ("warn", "queue", "page will be parsed again"),
    TaskState.FAILED: ("error", "error", "page failed"),
}
"""Level, topic and message of the log entry for a page, by the state in which its task rests.

The plan of a run may raise the level `debug`.
"""


REDIRECTED = ("debug", "fetch", "page redirected to another host")


class PageLog:
    """An observer of reports that logs the outcome of each page in its run's log."""

    def __init__(self, run_log: RunLogWriter) -> None:
        self._run_log = run_log

    async def save(self, pages: Sequence[Finished]) -> None:
        """Log reported pages."""
        for page in pages:
            _log(self._run_log, page)

    def save_parsed(self, plan: CrawlPlan, outcome: Outcome) -> None:
        """Log the outcome of a page that was parsed apart from its fetch, if its parser failed."""
        level, topic, message = ENTRIES[outcome.became]
        if level == "debug":
            return
        fields = {"url": outcome.task.url, "attempt": outcome.task.attempt, "reason": outcome.reason}
        error = {} if outcome.error is None else {"error": outcome.error}
        self._run_log.say(outcome.task.run_id, level, topic, message, fields | error, always=plan.always_logged)


def _log(run_log: RunLogWriter, page: Finished) -> None:
    run_id = page.task.run_id
    always = page.plan.always_logged
    run_log.begin(run_id, always=always)
    if page.download is not None and page.task.download is not None:
        _log_file(run_log, page, page.task.download, page.download)
        return
    level, topic, message = ENTRIES[page.rest] if page.fetched.redirected_to is None else REDIRECTED
    level = page.plan.page_log_level if level == "debug" else level
    topic = "rate_limit" if page.reason == "http_429" else topic
    level = "warn" if page.reason == "challenge" else level
    always = always and level in ("warn", "error")
    if not (always or run_log.wants(level, topic)):
        return
    fields = {
        "url": page.task.url,
        "depth": page.task.depth,
        "attempt": page.task.attempt,
        "reason": page.reason,
        "status": page.fetched.status,
        "bytes": len(page.page.response.body) if page.page else None,
        "fetch_ms": page.page.response.elapsed_ms if page.page else None,
        "retry_after": _retry_seconds(page) if topic == "rate_limit" and page.rest == TaskState.PENDING else None,
        "error": page.error,
    }
    known = {name: value for name, value in fields.items() if value is not None}
    run_log.say(run_id, level, topic, message, known, always=always)


def _retry_seconds(page: Finished) -> float:
    return round(pause_before_retry(page.task, page.plan, page.fetched.retry_after), 3)


FILE_ENTRIES = {
    TaskState.COMPLETED: ("info", "fetch", "file stored"),
    TaskState.PENDING: ("warn", "queue", "file will be tried again"),
    TaskState.FAILED: ("warn", "error", "file given up"),
}
"""Level, topic and message of the log entry for a download, by the state in which its task rests."""

FILE_REDIRECTED = ("info", "fetch", "file redirected to another host")


def _log_file(run_log: RunLogWriter, file: Finished, order: DownloadOrder, result: DownloadResult) -> None:
    """Log the outcome of a download."""
    level, topic, message = FILE_ENTRIES[file.rest] if file.fetched.redirected_to is None else FILE_REDIRECTED
    topic = "rate_limit" if file.reason == "http_429" else topic
    if not run_log.wants(level, topic):
        return
    stored = result.stored
    fields = {
        "resource": order.resource_id,
        "url": file.task.url,
        "attempts": file.task.attempt,
        "reason": file.reason,
        "status": file.fetched.status,
        "key": order.key if stored is not None else None,
        "bucket": order.bucket,
        "bytes": stored.bytes if stored is not None else None,
        "sha256": stored.sha256 if stored is not None else None,
        "ms": result.ms,
        "proxy": result.proxy,
        "trace": order.trace_id,
        "error": file.fetched.error,
    }
    known = {name: value for name, value in fields.items() if value is not None}
    run_log.say(file.task.run_id, level, topic, message, known)
