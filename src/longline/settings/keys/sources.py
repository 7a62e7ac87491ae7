"""Keys of sources: the source service, feeds, sitemaps, discovery."""

from typing import Annotated

from longline.settings.keys.schedules import ScheduleKeys
from longline.settings.values import LIST, POSITIVE_DURATION, SWITCH, Key, integer, url


class SourceKeys(ScheduleKeys, frozen=True, kw_only=True):
    """The source service, feeds, sitemaps, saved links and the discovery of sources."""

    sources_url: Annotated[
        str,
        Key(
            url("http", "https"),
            "Source list of another service that is crawled; if not set, the platform's own sources.",
        ),
    ] = ""
    sources_every: Annotated[
        float, Key(POSITIVE_DURATION, "Interval at which the source list of `sources_url` is read.")
    ] = 60.0
    source_events: Annotated[
        bool, Key(SWITCH, "Consume events from Redis about sources that are created, changed or deleted.")
    ] = False
    feeds: Annotated[bool, Key(SWITCH, "Poll the feeds of sources and fetch new entries.")] = False
    feed_poll: Annotated[float, Key(POSITIVE_DURATION, "Interval at which due feeds are looked for.")] = 5.0
    feed_discovery: Annotated[bool, Key(SWITCH, "Search for feeds of sources that name none.")] = False
    feed_search: Annotated[
        float, Key(POSITIVE_DURATION, "Interval at which sources that need a search for feeds are looked for.")
    ] = 5.0
    feed_search_again: Annotated[
        float, Key(POSITIVE_DURATION, "Pause between two searches at a source in which no feed was found.")
    ] = 604800.0
    sitemaps: Annotated[
        bool, Key(SWITCH, "Read the sitemaps of sources every six hours and fetch recently changed pages.")
    ] = False
    save_links: Annotated[
        bool, Key(SWITCH, "Save links that lead to other sites than the source they were found on.")
    ] = False
    discovery: Annotated[
        bool, Key(SWITCH, "Make candidates for new sources from external links, for sources that allow it.")
    ] = False
    discovery_allow: Annotated[
        tuple[str, ...], Key(LIST, "Substrings of which an external link must contain one to become a candidate.")
    ] = ()
    discovery_block: Annotated[
        tuple[str, ...], Key(LIST, "Substrings that keep an external link from becoming a candidate.")
    ] = ()
    discovery_budget: Annotated[int, Key(integer(0), "New candidates a day; 0 is no limit.")] = 0
    discovery_per_run: Annotated[int, Key(integer(0), "New candidates from one run; 0 is no limit.")] = 0
