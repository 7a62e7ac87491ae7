import pytest

from longline.engine.frontier.plan_cache import PlanCache
from longline.model.errors import Unavailable
from tests.engine.fakes import FakeRuns, part
from tests.plans import crawl_plan

PLAN = crawl_plan(("https://a.example/",), max_depth=7, hosts=("a.example",), robots=False)


async def test_a_plan_is_read_once():
    runs = FakeRuns({1: PLAN})
    plans = PlanCache(part(runs))
    assert [await plans.get(1) for _ in range(3)] == [PLAN] * 3
    assert runs.asked == 1


async def test_the_number_of_cached_plans_is_bounded():
    runs = FakeRuns({n: PLAN for n in range(5)})
    plans = PlanCache(part(runs), max_plans=3)
    for number in (0, 1, 2, 3, 4, 3):
        await plans.get(number)
    assert runs.asked == 5
    await plans.get(0)
    assert runs.asked == 6


async def test_a_failed_lookup_is_not_cached():
    runs = FakeRuns({1: PLAN})
    plans = PlanCache(part(runs))
    runs.away = True
    with pytest.raises(Unavailable):
        await plans.get(1)
    runs.away = False
    assert await plans.get(1) == PLAN
