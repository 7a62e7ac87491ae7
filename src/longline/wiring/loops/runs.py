"""The loops of runs: the scheduler, queued runs, ends of runs, retention and logs."""

from longline.model.frontier.worker import UPKEEP
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.subjects.logs import log_month_keeper, run_log_keeper
from longline.wiring.subjects.runs import (
    automatic_series_runs,
    due_run_starter,
    maintenance_runner,
    retention,
    run_effect_worker,
)
from longline.wiring.subjects.schedules import scheduler_loop

RUNS_LOOPS = (
    LoopRow(
        "scheduler",
        "Start due schedules, follow their runs and renew their leases.",
        (UPKEEP,),
        "poll",
        make=lambda p: scheduler_loop(p.platform, p.owner, p.run_log),
        settings=("scheduler",),
    ),
    LoopRow(
        "due runs",
        "Start queued runs that are due.",
        (UPKEEP,),
        1.0,
        once=lambda p: due_run_starter(p.platform, p.run_log).once,
    ),
    LoopRow(
        "automatic series runs",
        "Queue runs of catalogues and their series that are due by the intervals of their sources.",
        (UPKEEP,),
        10.0,
        once=lambda p: automatic_series_runs(p.platform).once,
        settings=("scheduler",),
    ),
    LoopRow(
        "maintenance",
        "Queue maintenance tasks by their cron expressions, and carry out queued ones.",
        (UPKEEP,),
        1.0,
        once=lambda p: maintenance_runner(p.platform).once,
    ),
    LoopRow(
        "run effects",
        "Carry out the effects of run ends, each once.",
        (UPKEEP,),
        1.0,
        once=lambda p: run_effect_worker(p.platform).once,
    ),
    LoopRow(
        "retention",
        "Delete runs, tasks of standing runs, events and segments that are too old, and old decisions on links.",
        (UPKEEP,),
        "cleanup",
        once=lambda p: retention(p.platform).once,
    ),
    LoopRow(
        "run logs",
        "Add heartbeats to run logs, close the logs of ended runs, archive them and delete old ones.",
        (UPKEEP,),
        1.0,
        once=lambda p: run_log_keeper(p.platform, p.log_copy).once,
    ),
    LoopRow(
        "log months",
        "Make months for the logs of catalogues ahead, and archive and delete months that ended six months ago.",
        (UPKEEP,),
        3600.0,
        once=lambda p: log_month_keeper(p.platform).once,
    ),
)
