"""The judgement of runs, and the end rules of a stored plan."""

import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import PlannedEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules, Judgement, is_failed, stored_end_rules


@pytest.mark.parametrize(
    ("judged", "admitted", "completed", "failed"),
    [
        ("never", 3, 0, False),
        ("all", 3, 0, True),
        ("all", 3, 1, False),
        ("all", 0, 0, False),
        ("any", 3, 2, True),
        ("any", 3, 3, False),
        ("any", 0, 0, False),
    ],
)
def test_a_run_is_judged_by_its_completed_tasks(judged: Judgement, admitted: int, completed: int, failed: bool):
    assert is_failed(judged, admitted, completed) is failed


def test_the_rules_are_read_from_a_stored_plan():
    rules = EndRules("any", (PlannedEffect(RunEffectKind.SOURCE_HEALTH, "x"),))
    plan = CrawlPlan(("https://a.example/",), end=rules)
    assert stored_end_rules(plan.text()) == rules == CrawlPlan.read(plan.text()).end


def test_a_plan_without_rules_has_the_usual_ones():
    assert stored_end_rules("{}") == EndRules() == stored_end_rules(CrawlPlan(()).text())


@pytest.mark.parametrize("plan", ["", "{", "[]", '{"end": 1}'])
def test_an_unreadable_plan_leaves_its_run_able_to_end(plan: str):
    assert stored_end_rules(plan) == EndRules()
