"""The loops of manifests: pruning, and streams in Redis."""

from longline.model.frontier.worker import UPKEEP
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.subjects.manifest_streams import direct_task_loop, stream_mirror_loop
from longline.wiring.subjects.manifests import manifest_chore

MANIFESTS_LOOPS = (
    LoopRow(
        "manifest pruning",
        "Delete ended manifests, dead letters and idempotency keys that are too old.",
        (UPKEEP,),
        "cleanup",
        once=lambda p: manifest_chore(p.platform),
    ),
    LoopRow(
        "manifest streams",
        "Copy what happens to manifests to streams in Redis.",
        (UPKEEP,),
        None,
        make=lambda p: stream_mirror_loop(p.platform),
        settings=("redis",),
    ),
    LoopRow(
        "direct tasks",
        "Take the tasks of direct producers from their stream in Redis.",
        (UPKEEP,),
        None,
        make=lambda p: direct_task_loop(p.platform),
        settings=("redis",),
    ),
)
