"""The rules of a plan for the retries of a task."""

from longline.model.frontier.outcomes import RetryRules
from longline.model.frontier.task import ClaimedTask
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
