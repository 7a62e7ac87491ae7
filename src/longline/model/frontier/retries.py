"""Retries of a task: the reasons that are retried, the number of attempts, and the pause before the next one."""

import msgspec

from longline.model.back_off import back_off
from longline.model.frontier.reasons import OK, PARSER_ERROR, RETRYABLE, SKIPPED, is_failure
from longline.model.frontier.task import ClaimedTask, TaskRedirect
from longline.model.runs.crawl_plan import CrawlPlan, ParserRetry
from longline.model.states import TaskState

_HOPELESS = frozenset(SKIPPED) - {"challenge"} | {PARSER_ERROR, "egress", "bad_url", "worker_lost", "page_lost"}
_GONE = (404, 410)

MAX_CLAIMS = 16
"""Largest number of claims for one attempt; a task with more counts as the cause of its workers' deaths.

Most tasks of a dying worker were not even begun, so the limit is more than a few.
"""


class RetryRules(msgspec.Struct, frozen=True):
    """The rules of a task's retries: the limit of attempts, reasons that are final, statuses to retry besides.

    With `insistent` nearly all reasons are retried.
    """

    max_attempts: int
    final: tuple[str, ...] = ()
    insistent: bool = False
    statuses: tuple[int, ...] = ()


def rest_after(reason: str, status: int | None, attempt: int, rules: RetryRules) -> TaskState:
    """Return the rest of a task for this reason and status after this many attempts."""
    if status in rules.statuses and is_failure(reason):
        return TaskState.PENDING if attempt < rules.max_attempts else TaskState.FAILED
    if rules.insistent:
        return state_after_retryable(reason, status, attempt, rules.max_attempts)
    return state_after(reason, attempt, 1 if reason in rules.final else rules.max_attempts)


def state_after(reason: str, attempt: int, max_attempts: int) -> TaskState:
    """Return the rest of a task for this reason after this many attempts."""
    if reason == OK:
        return TaskState.COMPLETED
    if reason in SKIPPED:
        return TaskState.SKIPPED
    return TaskState.PENDING if reason in RETRYABLE and attempt < max_attempts else TaskState.FAILED


def state_after_retryable(reason: str, status: int | None, attempt: int, max_attempts: int) -> TaskState:
    """Return the rest of a task that is retried unless a retry is hopeless."""
    if reason == OK or is_hopeless(reason, status) or attempt >= max_attempts:
        return state_after(reason, max_attempts, max_attempts)
    return TaskState.PENDING


def is_hopeless(reason: str, status: int | None) -> bool:
    """Return whether no further attempt would change the result, so that none is made even if attempts are left."""
    return reason in _HOPELESS or status in _GONE


def retry_seconds(attempt: int, base: float = 1.0, cap: float = 3600.0) -> float:
    """Return the seconds to wait after this many attempts: the base, doubled each time, up to the cap."""
    return back_off(base, attempt - 1, cap)


def retry_rules(task: ClaimedTask, plan: CrawlPlan) -> RetryRules:
    """Return the rules of retries; the task's own limit of attempts replaces that of the plan."""
    retries = plan.retries
    return RetryRules(task.max_attempts or retries.max_attempts, retries.final, retries.insistent, retries.statuses)


def rest_after_parser(retry: ParserRetry, fetches: int, parses: int, max_attempts: int) -> TaskState:
    """Return the rest of a task whose parser failed, after this many attempts to fetch and to parse the page."""
    if retry == "recrawl" and fetches < max_attempts:
        return TaskState.PENDING
    return TaskState.DOWNLOADED if retry == "reparse" and parses < max_attempts else TaskState.FAILED


def pause_before_retry(task: ClaimedTask, plan: CrawlPlan, retry_after: float | None) -> float:
    """Return the seconds before the next attempt; the host may ask for more by `retry_after`."""
    pause = retry_seconds(task.attempt, plan.retries.delay_seconds, plan.retries.max_delay_seconds)
    return max(retry_after or 0.0, pause)


def attempts_before_next(task: ClaimedTask, became: TaskState, redirected: TaskRedirect | None) -> int | None:
    """Return the attempts that count for the task's next worker, where they are not those of this one."""
    if redirected is not None:
        return task.attempt - 1  # the same attempt goes on at the other host
    # A parser has failed once already.
    return 1 if became == TaskState.DOWNLOADED else None
