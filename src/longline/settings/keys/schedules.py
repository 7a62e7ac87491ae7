"""Keys of schedules and of their runs."""

from typing import Annotated

from longline.settings.keys.parse import ParseKeys
from longline.settings.values import DURATION, LIST, POSITIVE_DURATION, SWITCH, Key, integer, one_of


class ScheduleKeys(ParseKeys, frozen=True, kw_only=True):
    """The scheduler, and the limits of scheduled runs."""

    scheduler: Annotated[bool, Key(SWITCH, "Start schedules when they are due.")] = True
    max_runs: Annotated[int, Key(integer(1, 10_000), "Concurrent scheduled runs that one process starts.")] = 100
    poll: Annotated[float, Key(POSITIVE_DURATION, "Interval at which due schedules are looked for.")] = 10.0
    schedule_lease: Annotated[
        float,
        Key(
            POSITIVE_DURATION,
            "Lease of a schedule: a process that does not renew a lease for this long loses the schedule.",
        ),
    ] = 300.0
    run_timeout: Annotated[float, Key(POSITIVE_DURATION, "Time limit of one scheduled run.")] = 3600.0
    rhythms: Annotated[
        str,
        Key(
            one_of("redis", "database"),
            "Store of the page-change history that adaptive intervals follow; redis without a Redis server keeps none.",
        ),
    ] = "redis"
    cleanup: Annotated[
        float,
        Key(POSITIVE_DURATION, "Interval at which runs, tasks, events and archive files that are too old are deleted."),
    ] = 86400.0
    retention_crawls: Annotated[
        float,
        Key(DURATION, "Age after its end at which a crawl without a schedule is deleted, with its pages; 0 is never."),
    ] = 0.0
    retention_scheduled: Annotated[
        float, Key(DURATION, "Age after its end at which a run of a schedule is deleted, with its pages; 0 is never.")
    ] = 2592000.0
    retention_max_scheduled: Annotated[
        int, Key(integer(1), "Newest runs that each schedule keeps; older ones are deleted whatever their age.")
    ] = 100
    retention_service: Annotated[
        float,
        Key(
            DURATION,
            "Age at which runs of the platform itself are deleted: feed polls, sitemaps, searches, probes; 0 is never.",
        ),
    ] = 604800.0
    retention_standing: Annotated[
        float,
        Key(
            DURATION,
            "Age at which ended URLs of the standing frontier are deleted, after which a URL may be admitted again;"
            " 0 is never.",
        ),
    ] = 7776000.0
    retention_recrawls: Annotated[
        float,
        Key(DURATION, "Age at which the archived pages of recrawls are deleted; the recrawls stay. 0 is never."),
    ] = 7776000.0
    retention_bots: Annotated[
        float, Key(DURATION, "Age at which ended tasks of bots are deleted, with their results; 0 is never.")
    ] = 0.0
    retention_events: Annotated[float, Key(DURATION, "Age at which events are deleted; 0 is never.")] = 2592000.0
    retention_visits: Annotated[
        float,
        Key(
            DURATION,
            "Age after the last fetch at which the next request for a URL of a deleted run is not conditional any more,"
            " and the body of the last page is deleted; 0 is never.",
        ),
    ] = 7776000.0
    max_requests: Annotated[int, Key(integer(0), "URLs that one scheduled run may fetch; 0 is no limit.")] = 0
    max_url: Annotated[
        int, Key(integer(0), "Longest URL of a scheduled run, in characters; 0 is no limit but that of all URLs.")
    ] = 0
    max_redirects: Annotated[int, Key(integer(0, 100), "Redirects followed from one URL in a scheduled run.")] = 5
    page_retries: Annotated[
        int, Key(integer(0, 100), "Retries of a page in a scheduled run after a failure; timeouts are not retried.")
    ] = 2
    page_retry_delay: Annotated[float, Key(POSITIVE_DURATION, "Pause before a scheduled run retries a page.")] = 2.0
    schedule_delay: Annotated[
        float, Key(DURATION, "Delay between two requests to one host in scheduled runs whose source has no rate limit.")
    ] = 2.0
    random_delay: Annotated[
        float, Key(DURATION, "Longest random time added to the delay in scheduled runs whose source has no rate limit.")
    ] = 1.0
    vary_user_agent: Annotated[
        bool, Key(SWITCH, "Send User-Agent headers of browsers in scheduled runs, in rotation.")
    ] = False
    allowed_domains: Annotated[
        tuple[str, ...], Key(LIST, "Domains that schedules may crawl; if not set, or with *, all.")
    ] = ()
    disallowed_domains: Annotated[tuple[str, ...], Key(LIST, "Domains that schedules may not crawl.")] = ()
