from dataclasses import replace

import msgspec
import pytest

from longline.engine.metrics import MetricCounters
from longline.engine.worker.fetch_metrics import FetchMetrics
from longline.engine.worker.finished_task import Finished
from longline.model.frontier.task import RequestMade
from longline.model.metrics import metric as m
from longline.testing.clock import FakeClock
from tests.engine.fakes import part
from tests.engine.worker.test_reporter import Desk, done, failed


class Sums(dict[str, int]):
    """Counters in memory."""

    async def add(self, counts: dict[str, int], _throughput: object = None) -> None:
        self.update(counts)


@pytest.fixture
def desk(clock: FakeClock) -> Desk:
    return Desk(clock)


def asking(finished: Finished, *asked: RequestMade) -> Finished:
    """The same task after these requests."""
    return replace(finished, fetched=msgspec.structs.replace(finished.fetched, asked=asked))


async def test_requests_bytes_times_and_outcomes_are_counted(desk: Desk):
    host = await desk.claim(1, 2)
    asked = (RequestMade(503, 20, 5, "http_5xx"), RequestMade(200, 300, 90))
    page = asking(done(host, 1), *asked)
    lost = asking(failed(host, 2, "dns"), RequestMade(reason="dns"))
    counters, sums, group = MetricCounters(), Sums(), host.lease.host
    await FetchMetrics(counters, frozenset({group})).save([page, lost])
    await counters.flush(part(sums))
    assert m.counter_values(m.FETCHES, sums) == {
        ("5xx", "http_5xx", group): 1,
        ("2xx", "ok", group): 1,
        ("none", "dns", group): 1,
    }
    assert m.counter_values(m.FETCH_BYTES, sums) == {(group,): 95}
    assert m.counter_values(m.ARCHIVED_PAGES, sums) == {(): 1}
    assert sum(m.counter_values(m.OUTCOMES, sums).values()) == 2
    times = m.histogram_values(m.FETCH_SECONDS, sums)[()]
    assert (dict(times.at_most)["+Inf"], times.sum_seconds) == (2, 0.32), "no time without a response"
