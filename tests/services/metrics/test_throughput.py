"""Rates and curves of the throughput."""

from longline.engine.metrics import MetricCounters
from longline.model.frontier.reasons import NOT_OF_REQUESTS, WITHOUT_REQUEST
from longline.model.metrics.metric import ARCHIVED_PAGES, FETCH_BYTES, FETCHES
from longline.model.metrics.throughput import WINDOWS
from longline.ports.records import Records
from longline.services.metrics.throughput import Throughput
from longline.testing.clock import FakeClock


async def test_counts_of_a_process_become_rates(records: Records, clock: FakeClock):
    clock.advance(60 - clock.now() % 60_000 / 1000)
    counters = MetricCounters()
    counters.add(FETCHES, "2xx", "ok", "other", count=510)
    counters.add(FETCHES, "2xx", "parser_error", "other", count=30)
    counters.add(FETCHES, "4xx", "http_429", "other", count=60)
    counters.add(FETCH_BYTES, "other", count=6000)
    counters.add(ARCHIVED_PAGES, count=600)
    await counters.flush(records.counters, "me:1")
    clock.advance(60)
    view = await Throughput(records.throughput, clock).read(WINDOWS["15m"])
    assert len(view.points) == 15
    assert (view.total("requests"), view.total("failures"), view.total("bytes")) == (600, 60, 6000)
    assert view.reasons == [("http_429", 60)], "a request with a page that cannot be parsed has not failed"
    assert view.rates("pages")[-2:] == [10.0, 10.0], "the last minute counts until its successor is full"
    clock.advance(30)
    view = await Throughput(records.throughput, clock).read(WINDOWS["15m"])
    assert view.rate("pages") == 5.0
    clock.advance(120)
    assert (await Throughput(records.throughput, clock).read(WINDOWS["15m"])).rate("pages") == 0.0


async def test_failures_without_a_failed_request_are_not_counted(records: Records, clock: FakeClock):
    counters = MetricCounters()
    for reason in NOT_OF_REQUESTS:
        counters.add(FETCHES, "2xx", reason, "other", count=2)
    for reason in WITHOUT_REQUEST:
        counters.add(FETCHES, "none", reason, "other", count=40)
    counters.add(FETCHES, "none", "checksum", "other", count=3)
    counters.add(FETCHES, "none", "dns", "other", count=7)
    await counters.flush(records.counters, "me:1")
    view = await Throughput(records.throughput, clock).read(WINDOWS["15m"])
    assert view.total("requests") == 2 * len(NOT_OF_REQUESTS) + 3 + 7, "a lost worker has made no request"
    assert view.reasons == [("dns", 7)]


async def test_an_idle_platform_has_a_flat_curve(records: Records, clock: FakeClock):
    view = await Throughput(records.throughput, clock).read(WINDOWS["2d"])
    assert len(view.points) == 48
    assert {*view.rates("pages")} == {0.0}
    assert view.reasons == []
