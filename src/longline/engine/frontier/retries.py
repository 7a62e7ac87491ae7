"""The rules of a plan for the retries of a task."""

from longline.model.frontier.outcomes import RetryRules, retry_seconds
from longline.model.frontier.task import ClaimedTask, TaskRedirect
from longline.model.runs.plan import CrawlPlan, ParserRetry
from longline.model.states import TaskState


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
