"""Notifications about indexed documents: content, failures, and no delay for the index."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from longline.engine.search.index_notifier import MAX_WAITING, IndexNotifier
from longline.model.errors import Unavailable
from longline.model.search.item import SearchDocument
from longline.testing.clock import START, FakeClock


def document(kind: str = "article", url: str = "https://a.example/1") -> SearchDocument:
    return SearchDocument(
        "h", kind, 1, 1, url, "Title", "three words here", id=1, source_id=7, created_at=1, updated_at=1
    )


class Service:
    """A service that keeps events, or is down."""

    def __init__(self) -> None:
        self.heard: list[Mapping[str, Any]] = []
        self.away = False

    async def post(self, event: Mapping[str, Any]) -> None:
        if self.away:
            raise Unavailable("away")
        self.heard.append(event)


@asynccontextmanager
async def telling(service: Service, clock: FakeClock) -> AsyncIterator[IndexNotifier]:
    notifier = IndexNotifier(service.post, clock)
    running = asyncio.create_task(notifier.run())
    yield notifier
    await notifier.drained()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_documents_are_announced_and_other_items_are_not(clock: FakeClock) -> None:
    service = Service()
    async with telling(service, clock) as notifier:
        notifier.notify([document(), document("product")])
    [event] = service.heard
    assert event["occurred_at"].startswith("2023-11-14T22:13:20")
    assert clock.now() == START
    assert {name: event[name] for name in event if name != "occurred_at"} == {
        "content_url": "https://a.example/1",
        "source_name": "a.example",
        "stage": "indexed",
        "service_name": "crawler",
        "metadata": {
            "title": "Title",
            "word_count": 3,
            "index_name": "a_example_raw_content",
            "document_id": event["metadata"]["document_id"],
        },
    }


async def test_a_service_that_is_down_does_not_affect_the_index(
    clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service()
    service.away = True
    async with telling(service, clock) as notifier:
        notifier.notify([document()] * 7)
    assert len(caplog.records) == 5, "no further request is sent after five failures"
    notifier.notify([document()] * (MAX_WAITING + 5))
