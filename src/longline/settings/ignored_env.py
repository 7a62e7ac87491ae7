"""Variables of the interval contract that have no effect here, with the reasons."""

from typing import NamedTuple

from longline.settings.values import PAUSE, SWITCH, TEXT, Kind, whole


class IgnoredVariable(NamedTuple):
    """The reason why a variable has no effect, and the kind that its value must have."""

    why: str
    kind: Kind = TEXT


_WAITS = "what cannot be indexed waits in the database until it can"
_VISITED = "what a run has visited is kept in the database"
_OWN_INDEX = "every source has an index of its own"

NEEDLESS: dict[str, IgnoredVariable] = {
    "CONFIG_PATH": IgnoredVariable("settings are in longline.toml, or in the file that LONGLINE_CONFIG names"),
    "CRAWLER_RETRY_DELAY": IgnoredVariable("links are queued in the transaction that reports their page", PAUSE),
    "CRAWLER_VALIDATE_URLS": IgnoredVariable("every URL is parsed before anything is done with it", SWITCH),
    "CRAWLER_DETECT_CHARSET": IgnoredVariable("the encoding of every page is found by the rules of HTML", SWITCH),
    "CRAWLER_TRACE_HTTP": IgnoredVariable("how long every request takes is always measured", SWITCH),
    "CRAWLER_TLS_PREFER_SERVER_CIPHER_SUITES": IgnoredVariable(
        "it is for servers, and crawling is done by a client", SWITCH
    ),
    "CRAWLER_REDIS_STORAGE_ENABLED": IgnoredVariable(_VISITED, SWITCH),
    "CRAWLER_REDIS_STORAGE_EXPIRES": IgnoredVariable(_VISITED, PAUSE),
    "ELASTICSEARCH_INDEX_NAME": IgnoredVariable(_OWN_INDEX),
    "ELASTICSEARCH_INDEX_PREFIX": IgnoredVariable(_OWN_INDEX),
    "ELASTICSEARCH_RETRY_ENABLED": IgnoredVariable(_WAITS, SWITCH),
    "ELASTICSEARCH_RETRY_INITIAL_WAIT": IgnoredVariable(_WAITS, PAUSE),
    "ELASTICSEARCH_RETRY_MAX_WAIT": IgnoredVariable(_WAITS, PAUSE),
    "ELASTICSEARCH_MAX_RETRIES": IgnoredVariable(_WAITS, whole(0)),
    "ELASTICSEARCH_DISCOVER_NODES": IgnoredVariable("the nodes are those that are named", SWITCH),
    "ELASTICSEARCH_TLS_ENABLED": IgnoredVariable("an address that begins with https:// is spoken to by TLS", SWITCH),
    "ENABLE_CONTINUOUS_PROFILING": IgnoredVariable(
        "nobody collects profiles here; ENABLE_PROFILING lets one ask", SWITCH
    ),
}
"""Ignored variables by name; a variable that is set gives a warning with its reason."""
