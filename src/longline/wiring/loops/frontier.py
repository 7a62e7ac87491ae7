"""The loops of the frontier: leases, pauses of hosts, proxies and the standing frontier."""

from longline.engine.frontier.standing_counts import StandingCountLog
from longline.engine.frontier.standing_waker import StandingWaker
from longline.engine.proxies.prober import LOOK_INTERVAL_SECONDS
from longline.model.frontier.worker import UPKEEP
from longline.wiring.loops.loop_row import LoopRow

FRONTIER_LOOPS = (
    LoopRow(
        "reaper",
        "Take back lapsed leases, and the leases and segments of dead processes.",
        (UPKEEP,),
        "reap",
        once=lambda p: p.platform.reaper.once,
    ),
    LoopRow(
        "host pauses",
        "Shorten pauses of hosts that are longer than any worker sets.",
        (UPKEEP,),
        3600.0,
        once=lambda p: p.bound_pauses,
    ),
    LoopRow(
        "proxy probes",
        "Send one request through each failed proxy that is due for a trial.",
        (UPKEEP,),
        LOOK_INTERVAL_SECONDS,
        once=lambda p: p.prober.once,
    ),
    LoopRow(
        "session upkeep",
        "Delete the logins of runs that have ended.",
        (UPKEEP,),
        60.0,
        once=lambda p: p.platform.records.sessions.drop_ended,
    ),
    LoopRow(
        "standing counts",
        "Log how many URLs of the standing frontier wait, are held, are done and were given up.",
        (UPKEEP,),
        60.0,
        once=lambda p: StandingCountLog(p.platform.records.standing).once,
    ),
    LoopRow(
        "standing waker",
        "Make URLs due that were admitted while the standing frontier was off.",
        (UPKEEP,),
        3600.0,
        once=lambda p: StandingWaker(p.platform.records.standing).once,
        settings=("frontier",),
    ),
)
