"""Functions of plugins as sinks."""

from collections.abc import Sequence
from copy import copy
from functools import partial

import pytest

from longline.drivers.sinks.function import FunctionSink
from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.plugins.sink import SinkHook
from longline.ports.sinks import SinkFailed

ADDRESS = SinkAddress.parse("kafka://me:secret@a.example/books")
ITEM = SinkItem("u-1-1", 1, 1, 1, 1, "book", "https://b.example/", 1, {})


async def test_plain_and_async_functions_get_address_and_items():
    seen: list[tuple[str, Sequence[SinkItem]]] = []

    async def later(url: str, items: Sequence[SinkItem]) -> None:
        seen.append((url, items))

    def now(url: str, items: Sequence[SinkItem]) -> None:
        seen.append((url, items))

    for hook in (SinkHook("kafka", 3, later), SinkHook("kafka", 3, now)):
        sink = FunctionSink(ADDRESS, partial(copy, hook))
        assert sink.batch_size == 3
        await sink.deliver([ITEM])
        await sink.close()
    assert seen == [(ADDRESS.url, [ITEM])] * 2


async def test_an_exception_is_a_failure_that_shows_no_password():
    def fail(url: str, items: Sequence[SinkItem]) -> None:
        raise OSError(f"cannot reach {url}")

    with pytest.raises(SinkFailed, match=r"OSError: cannot reach kafka://a\.example/books"):
        await FunctionSink(ADDRESS, lambda: SinkHook("kafka", 3, fail)).deliver([ITEM])
