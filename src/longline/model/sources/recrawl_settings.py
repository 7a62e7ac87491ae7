"""Settings of a source for pages that are submitted by their URLs and fetched again after a while."""

import msgspec

from longline.model.duration import DAY_SECONDS
from longline.model.errors import BadInput
from longline.model.proxies.proxy import Strategy
from longline.model.recrawls.frequency import DEFAULT_FREQUENCY, frequency_ms
from longline.model.runs.crawl_plan import ParserRetry


class DailyWindow(msgspec.Struct, frozen=True):
    """Times of the day in seconds from midnight UTC: the first belongs to the window, the last does not.

    A window whose end is before its beginning goes over midnight.
    """

    from_second: int
    to_second: int

    def __post_init__(self) -> None:
        is_within = 0 <= self.from_second < DAY_SECONDS and 0 <= self.to_second < DAY_SECONDS
        if not is_within or self.from_second == self.to_second:
            raise BadInput("a daily window has two different times of the day")


class RecrawlSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings of a source for its recrawls.

    `window` is the time of the day at which no page is fetched. `direct` allows requests without a proxy where none is
    usable. With `images`, images of products are stored as objects. With `again_after_failure`, a failed recrawl is
    followed by the next one like a completed one.
    """

    frequency: str = DEFAULT_FREQUENCY
    window: DailyWindow | None = None
    strategy: Strategy = "lru"
    country: str | None = None
    direct: bool = False
    images: bool = False
    parser_retry: ParserRetry = "recrawl"
    again_after_failure: bool = False

    def __post_init__(self) -> None:
        frequency_ms(self.frequency)

    def text(self) -> str:
        """Return the settings as JSON for their row."""
        return msgspec.json.encode(self, order="sorted").decode()


def recrawl_settings(text: str) -> RecrawlSettings:
    """Return the settings of a stored text."""
    return msgspec.json.decode(text, type=RecrawlSettings)
