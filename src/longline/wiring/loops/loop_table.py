"""The loops of a process, as one table: docs/reference/loops.md is made from it."""

from longline.engine.loop_supervisor import Loop
from longline.wiring.loops.bots import BOTS_LOOPS
from longline.wiring.loops.frontier import FRONTIER_LOOPS
from longline.wiring.loops.items import ITEMS_LOOPS
from longline.wiring.loops.loop_row import LoopParts, LoopRow
from longline.wiring.loops.manifests import MANIFESTS_LOOPS
from longline.wiring.loops.recrawls import RECRAWLS_LOOPS
from longline.wiring.loops.runs import RUNS_LOOPS
from longline.wiring.loops.server import SERVER_LOOPS
from longline.wiring.loops.sources import SOURCES_LOOPS
from longline.wiring.loops.worker import WORKER_LOOPS

LOOPS = (
    *WORKER_LOOPS,
    *FRONTIER_LOOPS,
    *ITEMS_LOOPS,
    *BOTS_LOOPS,
    *RUNS_LOOPS,
    *RECRAWLS_LOOPS,
    *MANIFESTS_LOOPS,
    *SOURCES_LOOPS,
    *SERVER_LOOPS,
)
"""Every loop of a process; the heartbeat of a worker and the writers of logs and counts run inside their parts."""


def build_loops(parts: LoopParts) -> dict[str, Loop]:
    """Return the loops that the roles of a process and its settings ask for."""
    return {row.name: row.build(parts) for row in LOOPS if runs(row, parts)}


def runs(row: LoopRow, parts: LoopParts) -> bool:
    """Return whether a loop runs in a process."""
    return row.is_enabled(parts.platform.settings) and set(row.roles) <= parts.roles
