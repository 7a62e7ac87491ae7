from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import msgspec
import pytest

from longline.engine.metrics import MetricCounters
from longline.engine.worker.fetch_metrics import FetchMetrics
from longline.engine.worker.finished_task import Finished
from longline.model.frontier.task import RequestMade
from longline.model.metrics import metric as m
from longline.model.metrics.throughput import WorkerThroughput
from longline.testing.clock import FakeClock
from tests.engine.fakes import part
from tests.engine.worker.test_reporter import Desk, done, failed


class Sums(dict[str, int]):
    """Counters in memory."""

    throughput: Mapping[tuple[str, str], int] = MappingProxyType({})

    async def add(self, counts: dict[str, int], throughput: WorkerThroughput | None = None) -> None:
        self.update(counts)
        if throughput is not None:
            self.throughput = throughput.counts


@pytest.fixture
def desk(clock: FakeClock) -> Desk:
    return Desk(clock)


def asking(finished: Finished, *asked: RequestMade) -> Finished:
    """Return the same task with these requests."""
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


async def test_requests_have_the_reasons_of_their_tasks(desk: Desk):
    """The fetcher has a status, and the task the reason: a refused page is no successful request."""
    host = await desk.claim(1, 2, 3)
    refused = asking(failed(host, 1, "http_4xx"), RequestMade(301, 5, 0), RequestMade(404, 20, 5))
    unreachable, unasked = asking(failed(host, 2, "refused"), RequestMade()), asking(failed(host, 3, "dns"))
    counters, sums = MetricCounters(), Sums()
    await FetchMetrics(counters, frozenset()).save([refused, unreachable, unasked])
    await counters.flush(part(sums))
    assert m.counter_values(m.FETCHES, sums) == {
        ("3xx", "ok", "other"): 1,
        ("4xx", "http_4xx", "other"): 1,
        ("none", "refused", "other"): 1,
        ("none", "dns", "other"): 1,
    }


async def test_a_refused_upload_and_a_lost_worker_are_no_failed_requests(desk: Desk):
    host = await desk.claim(1, 2, 3, 4)
    refused = asking(failed(host, 1, "upload"), RequestMade(200, 20, 90))
    lost, broken, unreachable = failed(host, 2, "worker_lost"), failed(host, 3, "internal"), failed(host, 4, "dns")
    counters, sums = MetricCounters(), Sums()
    await FetchMetrics(counters, frozenset()).save([refused, lost, broken, unreachable])
    await counters.flush(part(sums))
    assert sums.throughput == {("requests", ""): 2, ("failures", "dns"): 1, ("bytes", ""): 90}
