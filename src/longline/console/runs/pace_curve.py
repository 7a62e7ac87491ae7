"""The curve of a run's pace: pages and failures a minute, through its life."""

from collections.abc import Sequence

from longline.console.drawing.plot import Curve
from longline.console.template_filters import clock_time, moment, rate, zone_name
from longline.model.duration import DAY_MS, MINUTE_MS
from longline.model.runs.run_pace import PacePoint

HEIGHT = 180


def pace_curve(points: Sequence[PacePoint], *, is_over: bool) -> Curve:
    """Return the curve; its labels are times of day, for a run of more than a day with their date."""
    times = [_time(point.at, points) for point in points]
    tips = [
        f"{at} {zone_name()}: {rate(point.pages)} pages/min, {rate(point.failures)} failures/min"
        for at, point in zip(times, points, strict=True)
    ]
    most, last = max(point.pages for point in points), points[-1]
    title = f"Pages and failures per minute; at most {rate(most)} pages, {'in the end' if is_over else 'now'} "
    title += f"{rate(last.pages)} pages and {rate(last.failures)} failures"
    pages, failures = [point.pages for point in points], [point.failures for point in points]
    return Curve(pages, times, tips, title, failures, HEIGHT, is_live=not is_over)


def _time(at: int, points: Sequence[PacePoint]) -> str:
    span = points[-1].at - points[0].at
    if span >= DAY_MS:
        return moment(at)[5:16]
    return clock_time(at)[: 5 if span >= 30 * MINUTE_MS else 8]
