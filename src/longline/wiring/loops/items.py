"""The loops of items: the search index and the sinks."""

from longline.model.frontier.worker import UPKEEP
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.subjects.sinks import sink_loop

ITEMS_LOOPS = (
    LoopRow("index", "Bring new items to the search index.", (UPKEEP,), "index_every", once=lambda p: p.indexer.once),
    LoopRow("index upkeep", "Tidy the search index.", (UPKEEP,), 600.0, once=lambda p: p.platform.indexer.maintain),
    LoopRow(
        "sinks",
        "Send new items to the sinks.",
        (UPKEEP,),
        None,
        make=lambda p: sink_loop(p.platform, p.owner),
        settings=("sinks",),
    ),
)
