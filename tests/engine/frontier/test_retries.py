"""The rules of a plan for the retries of a task."""

import pytest

from longline.engine.frontier.retries import rest_after_parser, retry_rules
from longline.model.frontier.outcomes import RetryRules, rest_after
from longline.model.runs.plan import ParserRetry
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
