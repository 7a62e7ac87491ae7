"""Functions of plugins as sinks."""

from collections.abc import Sequence
from copy import copy
from functools import partial

import msgspec
import pytest

from longline.drivers.sinks.function import FunctionSink
from longline.model.errors import BadInput
from longline.model.sinks.sink import DEFAULT_BATCH_SIZE, ItemRefused, SinkAddress, SinkItem
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


async def test_an_exception_is_a_failure_of_the_whole_batch():
    def fail(url: str, items: Sequence[SinkItem]) -> None:
        raise OSError("cannot reach it\nand more")

    with pytest.raises(SinkFailed, match=r"^OSError: cannot reach it$") as failed:
        await FunctionSink(ADDRESS, lambda: SinkHook("kafka", 3, fail)).deliver([ITEM])
    assert (failed.value.delivered, failed.value.refused) == (0, False)


async def test_the_items_before_a_refused_one_are_delivered():
    taken: list[list[int]] = []

    def refuse(_: str, items: Sequence[SinkItem]) -> None:
        for item in items:
            if item.position == 3:
                raise ItemRefused(item, "price is no number")
        taken.append([item.position for item in items])

    batch = [msgspec.structs.replace(ITEM, id=f"u-1-{n}", position=n) for n in (1, 2, 3, 4)]
    with pytest.raises(SinkFailed, match=r"^price is no number$") as failed:
        await FunctionSink(ADDRESS, lambda: SinkHook("kafka", 9, refuse)).deliver(batch)
    assert (failed.value.delivered, failed.value.refused, taken) == (2, True, [[1, 2]])


async def test_a_function_that_is_missing_in_its_file_is_a_failure():
    def gone() -> SinkHook:
        raise BadInput("there is no sink for kafka://")

    sink = FunctionSink(ADDRESS, gone)
    assert sink.batch_size == DEFAULT_BATCH_SIZE
    with pytest.raises(SinkFailed, match=r"^there is no sink for kafka://$"):
        await sink.deliver([ITEM])
