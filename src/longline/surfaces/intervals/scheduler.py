"""`/api/v1/scheduler`: metrics, distribution of jobs over the day, and rebalancing."""

from typing import Any

from litestar import get, post
from litestar.di import NamedDependency

from longline.surfaces.intervals.services import IntervalServices
from longline.surfaces.intervals.shapes import distribution, metrics, rebalanced

Body = dict[str, Any]


class NotPlanning(Exception):
    """The scheduler is switched off."""


def _planning(desk: IntervalServices) -> IntervalServices:
    if not desk.planning:
        raise NotPlanning
    return desk


@get("/api/v1/scheduler/metrics", summary="How the scheduler does")
async def scheduler_metrics(desk: NamedDependency[IntervalServices]) -> Body:
    return metrics(await _planning(desk).runs.figures())


@get("/api/v1/scheduler/distribution", summary="How jobs lie in the next 24 hours")
async def scheduler_distribution(desk: NamedDependency[IntervalServices]) -> Body:
    return distribution(await _planning(desk).slots.hours())


@post("/api/v1/scheduler/rebalance/preview", status_code=200, summary="What a rebalancing would do")
async def preview_rebalance(desk: NamedDependency[IntervalServices]) -> Body:
    balance, _ = await _planning(desk).slots.rebalance(apply=False)
    return rebalanced(balance)


@post("/api/v1/scheduler/rebalance", status_code=200, summary="Spread jobs evenly over the slots")
async def apply_rebalance(desk: NamedDependency[IntervalServices]) -> Body:
    balance, moved = await _planning(desk).slots.rebalance(apply=True)
    return rebalanced(balance) | {"jobs_updated": moved}


SCHEDULER = (scheduler_metrics, scheduler_distribution, preview_rebalance, apply_rebalance)
