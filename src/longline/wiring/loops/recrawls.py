"""The loops of recrawls: next generations, found URLs, old pages and webhooks."""

from longline.engine.recrawls.recrawler import Recrawler
from longline.model.frontier.worker import UPKEEP
from longline.wiring.doors.products import webhook_sender
from longline.wiring.loops.loop_row import LoopRow
from longline.wiring.subjects.recrawls import daily_robots, found_urls, recrawl_page_retention

RECRAWLS_LOOPS = (
    LoopRow(
        "recrawls",
        "Make the next generations of recrawls, wake those that waited for others, and end holds.",
        (UPKEEP,),
        1.0,
        once=lambda p: Recrawler(p.platform.records, p.platform.lifecycle.tasks, p.platform.call_workers).once,
    ),
    LoopRow(
        "found URLs",
        "Submit children that pages of recrawls named, and have images of products stored.",
        (UPKEEP,),
        1.0,
        once=lambda p: found_urls(p.platform).once,
    ),
    LoopRow(
        "daily robots",
        "Fetch the robots.txt of sources with recrawls when it is missing, and again after a day.",
        (UPKEEP,),
        60.0,
        once=lambda p: daily_robots(p.platform).once,
        settings=("respect_robots",),
    ),
    LoopRow(
        "pages of recrawls",
        "Delete archived pages of recrawls that are too old.",
        (UPKEEP,),
        "cleanup",
        once=lambda p: recrawl_page_retention(p.platform).once,
        settings=("retention_recrawls",),
    ),
    LoopRow(
        "webhooks",
        "Send signed messages about recrawls that have ended.",
        (UPKEEP,),
        1.0,
        once=lambda p: webhook_sender(p.platform).once,
    ),
    LoopRow(
        "old webhooks",
        "Delete webhooks that ended 30 days ago.",
        (UPKEEP,),
        3600.0,
        once=lambda p: webhook_sender(p.platform).prune,
    ),
)
