"""The pause of a host after a Retry-After header."""

from email.utils import formatdate

import pytest

from longline.model.frontier.host import MAX_RETRY_AFTER_SECONDS
from longline.testing.clock import START, FakeClock
from tests.engine.fakes import Asker, FakeHttp, response
from tests.engine.fetch.test_fetcher import FREE, HOME, fetcher, held, http, paced

__all__ = ["fetcher", "http"]  # fixtures


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        (formatdate(START / 1000 + 90, usegmt=True), 90.0),
        (formatdate(START / 1000 - 90, usegmt=True), 0.0),
        ("99999999999999999999999", MAX_RETRY_AFTER_SECONDS),
        ("1" * 400, MAX_RETRY_AFTER_SECONDS),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER_SECONDS),
        ("\u00b2", 2.0),  # a digit, but no number: as without a header
        ("-5", 2.0),
        ("soon", 2.0),
        ("", 2.0),
    ],
)
async def test_retry_after_pauses_the_host(fetcher: Asker, http: FakeHttp, clock, value, seconds):
    http.on(HOME, response(HOME, 429, b"", (("Retry-After", value),)))
    host = held(clock)
    got = await fetcher.fetch(host, HOME, FREE)
    assert (got.reason, got.retry_after) == ("http_429", seconds)
    assert host.next_start == seconds, "the whole host is paused"


@pytest.mark.parametrize("wrong", [-86_400, -3600, 0, 3600, 86_400])
@pytest.mark.parametrize("zone", ["GMT", "-0000"])
async def test_a_date_in_retry_after_is_read_by_the_clock_of_the_server(
    fetcher: Asker, http: FakeHttp, clock: FakeClock, wrong: int, zone: str
):
    dates = {
        name: formatdate(START / 1000 + wrong + seconds, usegmt=True).replace("GMT", zone)
        for name, seconds in (("Date", 0), ("Retry-After", 40))
    }
    http.on(HOME, response(HOME, 503, b"", tuple(dates.items())))
    assert (await fetcher.fetch(held(clock), HOME, FREE)).retry_after == 40


async def test_without_retry_after_the_pause_doubles_until_a_success(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    host = held(clock)
    waits = []
    for status in (429, 503, 429, 200, 503):
        http.on(HOME, response(HOME, status, b""))
        waits.append((await paced(clock, fetcher.fetch(host, HOME, FREE), 20)).retry_after)
    assert waits == [2.0, 4.0, 8.0, None, 2.0]
    http.on(HOME, response(HOME, 500, b""))
    assert (await paced(clock, fetcher.fetch(host, HOME, FREE), 20)).retry_after is None


async def test_pauses_without_retry_after_have_a_random_part(http: FakeHttp, clock: FakeClock):
    http.on(HOME, response(HOME, 429, b""))
    chances = iter((0.0, 1.0))
    fetcher = Asker(http, clock, lambda: next(chances))
    assert [(await fetcher.fetch(held(clock), HOME, FREE)).retry_after for _ in range(2)] == [1.0, 3.0]


async def test_other_tasks_of_the_host_wait_as_well(fetcher: Asker, http: FakeHttp, clock: FakeClock):
    http.on(f"{HOME}1", response(HOME, 503, b"", (("Retry-After", "6"),)))
    host = held(clock, concurrency=2)
    assert (await fetcher.fetch(host, f"{HOME}1", FREE)).reason == "http_5xx"
    assert (await paced(clock, fetcher.fetch(host, f"{HOME}2", FREE), 10)).reason == "ok"
    assert http.sent[1] == (6, f"{HOME}2")
