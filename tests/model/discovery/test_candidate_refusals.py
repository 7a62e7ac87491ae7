from longline.model.discovery.candidate_refusals import DAY_USED_UP, RUN_USED_UP, CandidateBudget


def test_a_budget_counts_the_candidates_that_it_grants():
    budget = CandidateBudget(2, {1: 1})
    assert [budget.refusal(run) for run in (1, 1, 2, 2)] == [None, RUN_USED_UP, None, DAY_USED_UP]


def test_without_caps_all_are_granted():
    budget = CandidateBudget(None, {})
    assert [budget.refusal(1) for _ in range(3)] == [None] * 3


def test_a_place_that_is_a_candidate_costs_nothing():
    budget = CandidateBudget(1, {})
    assert budget.refusal(1, "rejected") == "was rejected"
    assert budget.refusal(1) is None
