"""Keys of the service log and of run logs."""

from typing import Annotated

from longline.settings.keys.engines import STORE
from longline.settings.keys.sources import SourceKeys
from longline.settings.values import LIST, POSITIVE_DURATION, SWITCH, TEXT, Key, integer, one_of


class LogKeys(SourceKeys, frozen=True, kw_only=True):
    """The log of the service, and the logs of runs."""

    log_level: Annotated[
        str,
        Key(
            one_of("debug", "info", "warning", "error", warn="warning", fatal="error"),
            "Lowest level of the service log.",
        ),
    ] = "info"
    log_format: Annotated[
        str,
        Key(
            one_of("auto", "json", "text", console="text"),
            "Format of the service log; auto is text on a terminal and JSON elsewhere.",
        ),
    ] = "auto"
    log_outputs: Annotated[
        tuple[str, ...], Key(LIST, "Outputs of the service log: stdout, stderr, or files that lines are appended to.")
    ] = ("stderr",)
    run_logs: Annotated[bool, Key(SWITCH, "Write a log for every run.")] = True
    run_log_streams: Annotated[bool, Key(SWITCH, "Let clients follow run logs while they are written.")] = True
    run_log_archive: Annotated[bool, Key(SWITCH, "Archive the log of an ended run in the object store.")] = True
    run_log_verbosity: Annotated[
        str,
        Key(
            one_of("quiet", "normal", "debug", "trace"), "Detail of run logs; quiet is warnings, errors and lifecycle."
        ),
    ] = "normal"
    run_log_level: Annotated[
        str,
        Key(
            one_of("auto", "debug", "info", "warn", "error", warning="warn"),
            "Lowest level in run logs; auto follows `run_log_verbosity`.",
        ),
    ] = "auto"
    run_log_rate: Annotated[
        int, Key(integer(0), "Debug entries per second of each run in each process; 0 is no limit.")
    ] = 0
    run_log_buffer: Annotated[
        int, Key(integer(1, 50_000), "Entries that a new client of a run log stream gets first; 200 at most.")
    ] = 1000
    run_log_milestone: Annotated[int, Key(integer(1), "Pages between two progress entries in a run log.")] = 50
    run_log_ttl: Annotated[
        float,
        Key(
            POSITIVE_DURATION, "Time that archived entries of run logs stay in the database, where streams replay them."
        ),
    ] = 86400.0
    run_log_retention: Annotated[float, Key(POSITIVE_DURATION, "Time that the logs of ended runs are kept.")] = (
        2592000.0
    )
    run_log_objects: Annotated[
        str, Key(STORE, "Object store of archived run logs; if not set, the store of `objects`.")
    ] = ""
    run_log_mirror: Annotated[
        str, Key(TEXT, "Prefix of Redis streams, one for each schedule, that run logs are copied to; if not set, none.")
    ] = ""
