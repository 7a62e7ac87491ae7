"""Sinks: the driver of each address, and the loop that delivers to all of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from longline.drivers.extras import load_driver
from longline.drivers.sinks.function import FunctionSink
from longline.drivers.sinks.webhook import WebhookSink, webhook_key
from longline.engine.loop_supervisor import Loop
from longline.engine.sinks.delivery import AddressedSink, SinkAssignment, SinkDelivery, delivery_loop
from longline.model.errors import BadInput
from longline.model.sinks.sink import TABLE_SCHEMES, WEBHOOK_SCHEMES, SinkAddress, parse_sinks
from longline.plugins.registry import Registry
from longline.plugins.sink import SinkHook
from longline.ports.sinks import Sink
from longline.services.sinks.sink_progress import SinkProgress
from longline.settings import Settings
from longline.wiring.platform import Platform, trusting_http


def sink_loop(platform: Platform, owner: int) -> Loop:
    """Return the loop that delivers to the sinks of the settings; raise `BadInput` for an address without a driver."""
    sinks = addressed_sinks(platform, platform.settings.sinks)

    async def loop(stop: asyncio.Event) -> None:
        async with open_deliveries(platform, sinks, owner) as deliveries:
            assignment = SinkAssignment(deliveries, platform.records.sink_runs, platform.clock)
            await delivery_loop(deliveries, assignment)(stop)

    return loop


@asynccontextmanager
async def open_deliveries(
    platform: Platform, sinks: Sequence[AddressedSink], owner: int
) -> AsyncIterator[tuple[SinkDelivery, ...]]:
    """Yield the deliveries to sinks, whose connections are closed at the end."""
    async with AsyncExitStack() as stack:
        for target in sinks:
            stack.push_async_callback(target.sink.close)
        yield tuple(SinkDelivery(target, platform.records.sinks, platform.records.items, owner) for target in sinks)


def addressed_sinks(platform: Platform, urls: Sequence[str]) -> tuple[AddressedSink, ...]:
    """Return the sinks of addresses; no connection is opened yet."""
    return tuple(AddressedSink(address, _sink(platform, address)) for address in parse_sinks(urls))


def check_sinks(parsers: Registry, urls: Sequence[str]) -> None:
    """Raise `BadInput` for an address without a driver, and for a webhook without a secret; nothing is opened."""
    for address in parse_sinks(urls):
        if address.scheme in WEBHOOK_SCHEMES:
            webhook_key(address)
        elif address.scheme in TABLE_SCHEMES:
            _table_sink(address)
        else:
            _hook(parsers, address.scheme)


def sink_names(settings: Settings) -> frozenset[str]:
    """Return the names that sources may give to their sinks."""
    return frozenset(address.name for address in parse_sinks(settings.sinks) if address.name)


def sink_progress(platform: Platform) -> SinkProgress:
    """Return the operations on sinks."""
    return SinkProgress(platform.records.sink_progress, platform.records.items)


def _sink(platform: Platform, address: SinkAddress) -> Sink:
    if address.scheme in TABLE_SCHEMES:
        return _table_sink(address)
    if address.scheme in WEBHOOK_SCHEMES:
        # The operator named the host: it may be internal, for this client alone.
        return WebhookSink(address, trusting_http(platform.settings, frozenset({address.hostname})), platform.clock)
    find = partial(_hook, platform.parsers, address.scheme)
    find()
    return FunctionSink(address, find)


def _table_sink(address: SinkAddress) -> Sink:
    made: Sink = load_driver("longline.drivers.sinks.postgres").PostgresSink(address)
    return made


def _hook(registry: Registry, scheme: str) -> SinkHook:
    registry.refresh()
    hook = registry.sinks.get(scheme)
    if hook is None:
        known = ", ".join(f"{name}://" for name in ("postgresql", "https", *sorted(registry.sinks)))
        raise BadInput(
            f"there is no sink for {scheme}://; known are {known}. "
            "The setting parsers names the files with functions that are marked with @sink"
        )
    return hook
