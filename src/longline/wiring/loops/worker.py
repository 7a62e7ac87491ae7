"""The loops of workers: fetching, parsing, and the signals between workers."""

from longline.engine.frontier.withdrawn_tasks import WITHDRAWAL_INTERVAL_SECONDS, WithdrawnTaskFilter
from longline.model.frontier.worker import FETCH, PARSE
from longline.model.signal_topics import PROXIES_TOPIC, ROBOTS_TOPIC, SETTINGS_TOPIC, WANT_TOPIC, WORK_TOPIC
from longline.wiring.child_worker import child_workers
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.signals import listener, text_listener
from longline.wiring.worker import parse_worker

WORKER_LOOPS = (
    LoopRow(
        "fetch",
        "Claim hosts, and take their tasks through fetch, parse, keep and report.",
        (FETCH,),
        None,
        make=lambda p: p.worker.run,
    ),
    LoopRow(
        "work signals",
        "Claim at once when another process has admitted URLs.",
        (FETCH,),
        None,
        make=lambda p: listener(p.platform, WORK_TOPIC, p.worker.wake),
    ),
    LoopRow(
        "work requests",
        "Release hosts when an idle worker asks for work.",
        (FETCH,),
        None,
        make=lambda p: listener(p.platform, WANT_TOPIC, p.worker.share),
    ),
    LoopRow(
        "robots signals",
        "Forget the rules of a site that were fetched anew on a person's order.",
        (FETCH,),
        None,
        make=lambda p: text_listener(p.platform, ROBOTS_TOPIC, p.platform.robots.forget),
    ),
    LoopRow(
        "proxy signals",
        "Look for proxies again when a person has registered, assigned or changed some.",
        (FETCH,),
        None,
        make=lambda p: text_listener(
            p.platform, PROXIES_TOPIC, lambda changed: p.worker.proxies.forget(int(changed) if changed else None)
        ),
    ),
    LoopRow(
        "settings signals",
        "Read the settings of a source again when they have changed.",
        (),
        None,
        make=lambda p: text_listener(
            p.platform, SETTINGS_TOPIC, lambda source_id: p.platform.recrawl_plans.forget(int(source_id))
        ),
    ),
    LoopRow(
        "withdrawn tasks",
        "Drop tasks that were paused, cancelled or restarted, or whose run has stopped, from the leased hosts.",
        (FETCH,),
        WITHDRAWAL_INTERVAL_SECONDS,
        once=lambda p: (
            WithdrawnTaskFilter(p.worker.hand, p.platform.lifecycle.tasks, p.owner, p.platform.records.holds).once
        ),
    ),
    LoopRow(
        "worker processes",
        "Run the other worker processes, and start one that died again.",
        (FETCH,),
        None,
        make=lambda p: child_workers(p.platform.settings, p.roles),
    ),
    LoopRow(
        "parse",
        "Parse pages from the archive.",
        (PARSE,),
        None,
        make=lambda p: parse_worker(p.platform, p.owner, p.run_log).run,
    ),
)
