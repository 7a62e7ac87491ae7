"""The exporter of metrics: the address, and the behaviour after failed exports."""

import asyncio
import logging

import pytest

from longline.engine.loop_supervisor import run_loops
from longline.ports.http import FetchFailed, Request, Response
from longline.services.metrics.otlp_export import OtlpExport


class Collector:
    """A client of a collector that answers with a status, or fails."""

    def __init__(self, *answers: int | None) -> None:
        self._answers, self.requests, self.is_closed = list(answers), list[Request](), False

    async def fetch(self, request: Request) -> Response:
        if self.is_closed:
            raise FetchFailed("network", "the client is closed")
        self.requests.append(request)
        status = self._answers.pop(0)
        if status is None:
            raise FetchFailed("network", "no route")
        return Response(request.url, status, (), b"", "HTTP/1.1", 1)

    async def close(self) -> None:
        """Mark the client as closed."""
        self.is_closed = True


async def document() -> bytes:
    return b"{}"


@pytest.mark.parametrize("endpoint", ["http://c.example:4318", "http://c.example:4318/v1/metrics/"])
async def test_metrics_are_posted_below_the_endpoint(endpoint: str):
    collector = Collector(200)
    await OtlpExport(collector, endpoint, document).once()
    [sent] = collector.requests
    assert (sent.method, sent.url, sent.body) == ("POST", "http://c.example:4318/v1/metrics", b"{}")
    assert sent.headers == (("content-type", "application/json"),)


async def test_the_first_failure_of_an_outage_is_logged(caplog: pytest.LogCaptureFixture):
    export = OtlpExport(Collector(None, 503, 200, 404), "http://c.example", document)
    with caplog.at_level(logging.WARNING):
        for _ in range(4):
            await export.once()
    assert [record.__dict__["reason"] for record in caplog.records] == ["network", "HTTP 404"]


async def test_metrics_are_sent_again_after_an_unexpected_error(monkeypatch: pytest.MonkeyPatch):
    collector, stop, wait_for = Collector(200, 200), asyncio.Event(), asyncio.wait_for
    # The pause before the loop is started again is skipped.
    monkeypatch.setattr("longline.engine.loop_supervisor.asyncio.wait_for", lambda work, _: wait_for(work, 0))
    calls = 0

    async def broken_once() -> bytes:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ZeroDivisionError
        stop.set()
        return b"{}"

    export = OtlpExport(collector, "http://c.example", broken_once)
    await run_loops({"metrics export": export.run}, stop)
    assert len(collector.requests) == 2, "the next export, and the last"
    await export.close()
    assert collector.is_closed
