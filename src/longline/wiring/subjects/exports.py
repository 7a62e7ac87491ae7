"""Tables and streams of items, in the places that a person named."""

from functools import partial

from longline.drivers.exports.item_stream import StandardOutput
from longline.drivers.exports.item_tables import ItemTableFiles, check_places
from longline.ports.clock import Clock
from longline.ports.records.search import ItemStore
from longline.services.exports.item_tables import ItemOutputs, ItemWriter, LiveItems

__all__ = ["check_places", "live_items"]


def live_items(items: ItemStore, clock: Clock, outputs: ItemOutputs) -> LiveItems | None:
    """Return the writer of items while a run goes on; None if no place was named for them."""
    if not outputs.files and not outputs.stream:
        return None
    return LiveItems(
        ItemWriter(items, outputs.kinds),
        clock,
        partial(ItemTableFiles, outputs.files) if outputs.files else None,
        StandardOutput() if outputs.stream else None,
    )
