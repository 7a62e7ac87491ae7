"""Variables of the interval contract that have no effect here, with the reasons."""

from typing import NamedTuple

from longline.settings.values import DURATION, SWITCH, TEXT, Kind, integer


class IgnoredVariable(NamedTuple):
    """The reason why a variable has no effect, and the kind that its value must have."""

    reason: str
    kind: Kind = TEXT


_RETRIED = "items that could not be indexed wait in the database"
_VISITED = "the database stores the visited URLs of a run"
_OWN_INDEX = "every source has its own index"

IGNORED_VARIABLES: dict[str, IgnoredVariable] = {
    "CONFIG_PATH": IgnoredVariable("the settings file is longline.toml, or the file of LONGLINE_CONFIG"),
    "CRAWLER_RETRY_DELAY": IgnoredVariable("links are queued in the transaction that reports their page", DURATION),
    "CRAWLER_VALIDATE_URLS": IgnoredVariable("every URL is validated", SWITCH),
    "CRAWLER_DETECT_CHARSET": IgnoredVariable("the encoding of every page is detected by the rules of HTML", SWITCH),
    "CRAWLER_TRACE_HTTP": IgnoredVariable("the time of every request is always measured", SWITCH),
    "CRAWLER_TLS_PREFER_SERVER_CIPHER_SUITES": IgnoredVariable(
        "the option is for servers, and a crawler is a client", SWITCH
    ),
    "CRAWLER_REDIS_STORAGE_ENABLED": IgnoredVariable(_VISITED, SWITCH),
    "CRAWLER_REDIS_STORAGE_EXPIRES": IgnoredVariable(_VISITED, DURATION),
    "ELASTICSEARCH_INDEX_NAME": IgnoredVariable(_OWN_INDEX),
    "ELASTICSEARCH_INDEX_PREFIX": IgnoredVariable(_OWN_INDEX),
    "ELASTICSEARCH_RETRY_ENABLED": IgnoredVariable(_RETRIED, SWITCH),
    "ELASTICSEARCH_RETRY_INITIAL_WAIT": IgnoredVariable(_RETRIED, DURATION),
    "ELASTICSEARCH_RETRY_MAX_WAIT": IgnoredVariable(_RETRIED, DURATION),
    "ELASTICSEARCH_MAX_RETRIES": IgnoredVariable(_RETRIED, integer(0)),
    "ELASTICSEARCH_DISCOVER_NODES": IgnoredVariable("only the configured nodes are used", SWITCH),
    "ELASTICSEARCH_TLS_ENABLED": IgnoredVariable("TLS is used for addresses that begin with https://", SWITCH),
    "ENABLE_CONTINUOUS_PROFILING": IgnoredVariable(
        "there is no profile collector; ENABLE_PROFILING serves profiles on demand", SWITCH
    ),
}
"""Ignored variables by name; a variable that is set gives a warning with its reason."""
