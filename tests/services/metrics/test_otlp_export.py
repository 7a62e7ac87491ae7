"""The exporter of metrics: where it sends them, and what it does when they are not taken."""

import logging

import pytest

from longline.ports.http import FetchFailed, Request, Response
from longline.services.metrics.otlp_export import OtlpExport


class Collector:
    """A client whose collector answers with a status, or not at all."""

    def __init__(self, *answers: int | None) -> None:
        self._answers, self.requests = list(answers), list[Request]()

    async def fetch(self, request: Request) -> Response:
        self.requests.append(request)
        status = self._answers.pop(0)
        if status is None:
            raise FetchFailed("network", "no route")
        return Response(request.url, status, (), b"", "HTTP/1.1", 1)

    async def close(self) -> None:
        """Nothing is open."""


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
