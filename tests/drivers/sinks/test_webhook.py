"""Webhooks: signed requests, and failures of the receiver."""

import base64
import json
from collections.abc import Sequence

import pytest

from longline.drivers.sinks.webhook import WebhookSink
from longline.model.errors import BadInput
from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.model.sinks.webhook_signature import read_secret, signature
from longline.ports.http import FetchFailed, Request, Response
from longline.ports.sinks import SinkFailed
from longline.testing.clock import FakeClock

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ADDRESS = SinkAddress.parse(f"https://a.example/in?x=1#{SECRET}")


def item(position: int, **fields: object) -> SinkItem:
    return SinkItem(
        f"u-1-{position}", 1, position, position, 1, "book", "https://b.example/", 1_700_000_000_000, fields
    )


class Receiver:
    """A receiver that answers with the given statuses, then with 204."""

    def __init__(self, *answers: int | FetchFailed, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.answers, self.headers, self.requests = list(answers), headers, list[Request]()

    async def fetch(self, request: Request) -> Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else 204
        if isinstance(answer, FetchFailed):
            raise answer
        return Response(request.url, answer, self.headers, b"", "HTTP/1.1", 1)

    async def close(self) -> None:
        """Do nothing: there are no open connections."""


async def failure(http: Receiver, items: Sequence[SinkItem]) -> SinkFailed:
    with pytest.raises(SinkFailed) as failed:
        await WebhookSink(ADDRESS, http, FakeClock()).deliver(items)
    return failed.value


def test_the_signature_is_that_of_the_standard():
    told = signature(read_secret(SECRET), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert told == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_each_item_is_one_signed_message():
    http, clock = Receiver(), FakeClock()
    await WebhookSink(ADDRESS, http, clock).deliver([item(1, title="A"), item(2, title="B")])
    first, second = http.requests
    headers = dict(first.headers)
    assert (first.method, first.url) == ("POST", "https://a.example/in?x=1")
    assert (headers["webhook-id"], dict(second.headers)["webhook-id"]) == ("u-1-1", "u-1-2")
    at = int(headers["webhook-timestamp"])
    assert at == clock.wall() // 1000
    assert headers["webhook-signature"] == signature(read_secret(SECRET), "u-1-1", at, first.body)
    body = json.loads(first.body)
    assert (body["type"], body["timestamp"]) == ("item.found", "2023-11-14T22:13:20.000Z")
    assert (body["data"]["id"], body["data"]["fields"]) == ("u-1-1", {"title": "A"})


async def test_a_failure_has_the_number_of_confirmed_items():
    http = Receiver(200, 503, headers=(("Retry-After", "7"),))
    failed = await failure(http, [item(1), item(2), item(3)])
    assert (failed.delivered, failed.retry_after_seconds, len(http.requests)) == (1, 7.0, 2)
    assert "503" in str(failed)
    failed = await failure(Receiver(FetchFailed("connect", "refused")), [item(1)])
    assert (failed.delivered, str(failed)) == (0, "connect: refused")
    assert "301" in str(await failure(Receiver(301), [item(1)]))


async def test_some_statuses_refuse_one_item_and_others_the_whole_delivery():
    refused = {status: (await failure(Receiver(204, status), [item(1), item(2)])) for status in (422, 413, 401, 500)}
    assert [(status, failed.delivered, failed.refused) for status, failed in refused.items()] == [
        (422, 1, True),
        (413, 1, True),
        (401, 1, False),
        (500, 1, False),
    ]


@pytest.mark.parametrize("secret", ["", "secret", "whsec_*", "whsec_" + base64.b64encode(b"short").decode()])
def test_a_webhook_without_a_good_secret_is_refused_with_advice(secret: str):
    with pytest.raises(BadInput, match="openssl rand -base64 32"):
        read_secret(secret)
