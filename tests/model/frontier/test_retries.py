"""Retries by reason, number of attempts and rules of the plan, and the growth of the pauses between them."""

import pytest

from longline.model.frontier import reasons
from longline.model.frontier.retries import (
    RetryRules,
    rest_after,
    rest_after_parser,
    retry_rules,
    retry_seconds,
    state_after,
    state_after_retryable,
)
from longline.model.runs.crawl_plan import ParserRetry
from longline.model.states import TaskState
from tests.engine.fakes import claimed
from tests.plans import crawl_plan

PLAN = crawl_plan((), max_attempts=3, statuses=(499, 404), final=("dns",))


def test_the_limit_of_a_task_replaces_that_of_the_plan():
    assert retry_rules(claimed(), PLAN) == RetryRules(3, ("dns",), statuses=(499, 404))
    assert retry_rules(claimed(max_attempts=1), PLAN).max_attempts == 1


@pytest.mark.parametrize(
    ("reason", "status", "attempt", "state"),
    [
        ("http_4xx", 499, 1, "pending"),
        ("http_4xx", 499, 3, "failed"),
        ("http_4xx", 403, 1, "failed"),
        ("http_5xx", 503, 1, "pending"),
        ("http_5xx", 503, 3, "failed"),
        ("dns", None, 1, "failed"),
        ("robots", 404, 1, "skipped"),
        ("ok", 200, 1, "completed"),
    ],
)
def test_a_plan_names_further_statuses_to_retry(reason: str, status: int | None, attempt: int, state: str):
    assert rest_after(reason, status, attempt, retry_rules(claimed(), PLAN)) == state


@pytest.mark.parametrize(("statuses", "state"), [((), "failed"), ((404,), "pending")])
def test_a_named_status_is_retried_even_where_a_retry_seems_hopeless(statuses: tuple[int, ...], state: str):
    rules = RetryRules(3, insistent=True, statuses=statuses)
    assert rest_after("http_4xx", 404, 1, rules) == state


@pytest.mark.parametrize(
    ("retry", "fetches", "parses", "state"),
    [
        ("never", 1, 1, "failed"),
        ("recrawl", 2, 9, "pending"),
        ("recrawl", 3, 1, "failed"),
        ("reparse", 9, 2, "downloaded"),
        ("reparse", 1, 3, "failed"),
    ],
)
def test_a_failed_parser_is_retried_as_the_plan_says(retry: ParserRetry, fetches: int, parses: int, state: str):
    assert rest_after_parser(retry, fetches, parses, 3) == state


@pytest.mark.parametrize("reason", sorted(reasons.RETRYABLE))
def test_retryable_reasons_are_retried_until_the_attempts_are_used_up(reason: str):
    assert state_after(reason, 1, 3) == TaskState.PENDING
    assert state_after(reason, 2, 3) == TaskState.PENDING
    assert state_after(reason, 3, 3) == TaskState.FAILED


@pytest.mark.parametrize("reason", sorted(reasons.FINAL))
def test_final_reasons_fail_at_once(reason: str):
    assert state_after(reason, 1, 3) == TaskState.FAILED


@pytest.mark.parametrize("reason", sorted(reasons.SKIPPED))
def test_skipped_pages_are_not_retried(reason: str):
    assert state_after(reason, 1, 3) == TaskState.SKIPPED


def test_the_pause_between_attempts_doubles_up_to_the_cap():
    assert [retry_seconds(n) for n in range(1, 6)] == [1, 2, 4, 8, 16]
    assert retry_seconds(13) == 3600
    assert retry_seconds(10_000) == 3600
    assert retry_seconds(0) == 1


@pytest.mark.parametrize(
    ("reason", "status", "attempt", "became"),
    [
        ("ok", 200, 1, TaskState.COMPLETED),
        ("http_4xx", 403, 1, TaskState.PENDING),
        ("http_4xx", 403, 3, TaskState.FAILED),
        ("http_4xx", 404, 1, TaskState.FAILED),
        ("http_4xx", 410, 1, TaskState.FAILED),
        ("too_many_redirects", 302, 2, TaskState.PENDING),
        ("tls", None, 1, TaskState.PENDING),
        ("dns", None, 3, TaskState.FAILED),
        ("parser_error", 200, 1, TaskState.FAILED),
        ("egress", None, 1, TaskState.FAILED),
        ("robots", None, 1, TaskState.SKIPPED),
        ("binary_url", None, 1, TaskState.SKIPPED),
        ("challenge", 403, 1, TaskState.PENDING),
        ("challenge", 403, 3, TaskState.SKIPPED),
    ],
)
def test_insistent_retries_end_only_where_a_retry_is_hopeless(
    reason: str, status: int | None, attempt: int, became: TaskState
) -> None:
    assert state_after_retryable(reason, status, attempt, 3) == became
