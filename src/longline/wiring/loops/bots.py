"""The loops of bots."""

from longline.model.frontier.worker import UPKEEP
from longline.wiring.doors.bots import bot_task_upkeep
from longline.wiring.loops.loop_row import LoopRow

BOTS_LOOPS = (
    LoopRow(
        "bot tasks",
        "Make tasks for the schedules of bots that are due.",
        (UPKEEP,),
        5.0,
        once=lambda p: bot_task_upkeep(p.platform).plan,
    ),
    LoopRow(
        "bot leases",
        "Take back the tasks that bots let lapse.",
        (UPKEEP,),
        60.0,
        once=lambda p: bot_task_upkeep(p.platform).sweep,
    ),
)
