"""The times at which the catalogue of a source, and its series, are crawled by themselves."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.model.duration import MINUTE_MS

DEFAULT_TARGETED_MINUTES, DEFAULT_DISCOVERY_MINUTES = 60, 1440
MAX_MINUTES = 10 * 366 * 1440


class AutomaticSource(msgspec.Struct, frozen=True):
    """A source that is crawled by itself; `tried_at` is when its catalogue last was."""

    id: int
    name: str
    base_url: str
    extension_config: str
    tried_at: int


class SeriesSchedule(msgspec.Struct, frozen=True):
    """The intervals between two crawls of a series, and of the catalogue; None for no crawls."""

    targeted_ms: int | None
    discovery_ms: int | None

    @classmethod
    def read(cls, config: str) -> "SeriesSchedule":
        """Return the intervals that the config of a source names, or the default ones; 0 or null stands for none."""
        decoded: Mapping[str, Any] = msgspec.json.decode(config)
        if "schedule" in decoded and not decoded["schedule"] and decoded["schedule"] != {}:
            return cls(None, None)
        given = decoded.get("schedule")
        wanted = given if isinstance(given, Mapping) else {}
        return cls(
            _interval_ms(wanted, "targetedminutes", DEFAULT_TARGETED_MINUTES),
            _interval_ms(wanted, "discoveryminutes", DEFAULT_DISCOVERY_MINUTES),
        )


def _interval_ms(wanted: Mapping[str, Any], name: str, default: int) -> int | None:
    """Return an interval; a value that is no number of minutes means the default."""
    value = wanted.get(name, default)
    if value is None or value is False or value == 0:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_MINUTES
    return max(1, round((value if is_number else default) * MINUTE_MS))
