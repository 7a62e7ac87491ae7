"""What a worker has in hand of runs that have ended."""

from collections.abc import Sequence

from longline.engine.frontier.drop_ended_runs import EndedRunFilter
from longline.testing.clock import FakeClock
from tests.engine.fakes import RUN, claimed, part
from tests.engine.worker.test_worker import Shop, url


class Ended:
    """Which runs have ended."""

    def __init__(self) -> None:
        self.runs: set[int] = set()

    async def ended(self, run_ids: Sequence[int]) -> list[int]:
        return [run_id for run_id in run_ids if run_id in self.runs]


async def test_nothing_more_is_begun_for_a_run_that_has_ended(clock: FakeClock):
    shop, history = Shop(clock), Ended()
    shop.frontier.add(*(claimed(n) for n in range(1, 21)))
    recall = EndedRunFilter(shop.worker.hand, part(history))
    first = shop.gate(url(1))
    async with shop.open():
        await shop.until(lambda: shop.http.sent)
        await recall.once()
        assert shop.worker.hand.runs == {RUN}, "it goes on"
        history.runs.add(RUN)
        await recall.once()
        assert shop.worker.hand.runs == set()
        first.set()
        await shop.until(lambda: shop.frontier.reports)
    [report] = shop.frontier.reports[0].reports
    assert [outcome.task.url for outcome in report.outcomes] == [url(1)], "what was under way is all"
