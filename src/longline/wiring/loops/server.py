"""The loops of the server: alerts, throughput, the cache of sources, and events for clients."""

from longline.engine.loop_supervisor import Loop
from longline.model.frontier.worker import UPKEEP
from longline.services.metrics.otlp_export import EXPORT_INTERVAL_SECONDS
from longline.wiring.doors.catalogue import source_cache_cleaner
from longline.wiring.doors.products import alerts
from longline.wiring.loops.loop_row import API, LoopParts, LoopRow


def _monitor(parts: LoopParts) -> Loop:
    assert parts.monitor is not None
    return parts.monitor.run


def _otlp_export(parts: LoopParts) -> Loop:
    assert parts.otlp_export is not None
    return parts.otlp_export.run


SERVER_LOOPS = (
    LoopRow(
        "alerts",
        "Look for alerts about proxies, the queue and catalogues, and log those that begin and end.",
        (UPKEEP,),
        30.0,
        once=lambda p: alerts(p.platform).once,
    ),
    LoopRow(
        "throughput",
        "Sum up the throughput of the newest hours, and delete old minutes and hours.",
        (UPKEEP,),
        300.0,
        once=lambda p: p.platform.records.throughput.upkeep,
    ),
    LoopRow(
        "source cache",
        "Remove what changed sources have in the cache in Redis.",
        (API,),
        0.25,
        once=lambda p: source_cache_cleaner(p.platform).once,
        settings=("redis",),
    ),
    LoopRow(
        "metrics export",
        "Send the metrics to the OTLP collector, once more at the stop.",
        (API,),
        EXPORT_INTERVAL_SECONDS,
        make=_otlp_export,
        settings=("telemetry.otlp_endpoint",),
    ),
    LoopRow("event loop lag", "Measure how late the event loop runs.", (API,), None, make=_monitor),
    LoopRow(
        "log followers",
        "Send new entries of run logs to the clients that follow them.",
        (API,),
        None,
        make=lambda p: p.served.followers.run,
    ),
    LoopRow(
        "move events",
        "Publish moves of schedules and runs to the clients of the event stream.",
        (API,),
        0.5,
        once=lambda p: p.served.moves.once,
    ),
    LoopRow(
        "health events",
        "Publish the health of the engines to the clients of the health stream.",
        (API,),
        5.0,
        once=lambda p: p.served.health.once,
    ),
    LoopRow(
        "platform alerts",
        "Check for stalled runs, failed requests, a late queue and engines that do not answer, and keep the alerts.",
        (API,),
        30.0,
        once=lambda p: p.served.alerts.once,
    ),
    LoopRow(
        "count events",
        "Publish the numbers of tasks and runs to the clients of the metrics stream.",
        (API,),
        30.0,
        once=lambda p: p.served.counts.once,
    ),
)
