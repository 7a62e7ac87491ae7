"""The services of recrawls, from the parts of the house."""

from typing import NamedTuple

from longline.engine.archive.page_reader import PageReader
from longline.services.frontier.task_moves import TaskMoves
from longline.services.recrawls.batches import Batches
from longline.services.recrawls.holds import Holds
from longline.services.recrawls.recrawl_moves import RecrawlMoves
from longline.services.recrawls.recrawls import Recrawls
from longline.wiring.house import House
from longline.wiring.parts.sources import recrawl_runs


class RecrawlServices(NamedTuple):
    """The services of recrawls."""

    recrawls: Recrawls
    orders: RecrawlMoves
    batches: Batches
    holds: Holds


def recrawl_services(house: House) -> RecrawlServices:
    """Return the services of recrawls, which share the runs of sources."""
    records, runs, moves = house.records, recrawl_runs(house), TaskMoves(house.lifecycle)
    recrawls = Recrawls(records, runs, house.politeness, house.call_workers)
    return RecrawlServices(
        recrawls,
        RecrawlMoves(recrawls, records.recrawls, moves, PageReader(records.pages, house.blobs)),
        Batches(records, moves),
        Holds(records.holds, runs, house.call_workers),
    )
