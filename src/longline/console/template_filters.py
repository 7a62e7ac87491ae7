"""Numbers, times and texts as pages show them."""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from zoneinfo import ZoneInfo

from markupsafe import Markup

from longline.console.browser_names import browser_name
from longline.model.logs.run_log import written_fields
from longline.model.proxies.proxy_uri import bracketed

DASH = "–"
"""Shown where there is no value; 0 is a value."""

TIME_ZONE: ContextVar[ZoneInfo] = ContextVar("time_zone", default=ZoneInfo("UTC"))  # noqa: B039 - a ZoneInfo never changes
"""The time zone of the visitor for whom a page is made; the access check sets it."""

_DECIMAL_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_RECENT_MS = 36 * 3_600_000


def number(value: float | None) -> str:
    """Return a whole number with commas between thousands."""
    return DASH if value is None else f"{value:,.0f}"


def rate(value: float | None) -> str:
    """Return a number with three figures, and more before the point."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


def written_price(value: float, currency: str = "") -> str:
    """Return a price with two digits after the point, or three where a currency such as KWD needs them."""
    return f"{value:,.3f}".removesuffix("0") + (f" {currency}" if currency else "")


def axis_number(value: float) -> str:
    """Return a number of an axis, without digits that say nothing."""
    return f"{value:,.6g}" if value < 1_000_000 else number(value)


def percent(part: float, whole: float) -> str:
    """Return a share; shares below a tenth of a percent have two digits after the point."""
    if not whole:
        return DASH
    share = 100 * part / whole
    return f"{share:.2f}%" if 0 < share < 0.1 else f"{share:.1f}%"


def size(value: float | None) -> str:
    """Return a number of bytes in a decimal unit."""
    found = byte_parts(value)
    return DASH if found is None else f"{found[0]} {found[1]}"


def byte_parts(value: float | None) -> tuple[str, str] | None:
    """Return a number of bytes as figures and unit."""
    if value is None:
        return None
    power = 0
    while value >= 1000 and power < len(_DECIMAL_UNITS) - 1:
        value, power = value / 1000, power + 1
    return (f"{value:.0f}" if power == 0 else rate(value)), _DECIMAL_UNITS[power]


def duration(milliseconds: float | None) -> str:
    """Return a duration in its two largest units, such as 12 min 04 s."""
    if milliseconds is None:
        return DASH
    seconds = max(0, round(milliseconds / 1000))
    if seconds < 60:
        return f"{max(0.0, milliseconds) / 1000:.1f} s" if milliseconds < 10_000 else f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes:02} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def interval(milliseconds: int | None) -> str:
    """Return the time between two runs in the largest unit that it is a multiple of, such as 6 h."""
    if milliseconds is None:
        return DASH
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000)):
        if milliseconds and milliseconds % length == 0:
            return f"{milliseconds // length:,} {unit}"
    return duration(milliseconds)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless there is one."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def short_duration(milliseconds: float) -> str:
    """Return a duration in its largest unit, such as 12 min."""
    seconds = max(0, int(milliseconds / 1000))
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def when(at: int | None, now: int) -> Markup | str:
    """Return a time as an element: relative if it is recent, with the exact time on hover."""
    if at is None:
        return DASH
    exact = moment(at)
    if abs(now - at) >= _RECENT_MS:
        shown = exact[:16]
    else:
        shown = f"{short_duration(now - at)} ago" if at <= now else f"in {short_duration(at - now)}"
    return Markup('<time datetime="{}" title="{} {}">{}</time>').format(machine_time(at), exact, zone_name(), shown)


def countdown(at: int | None, now: int, past: str = "now") -> Markup | str:
    """Return a coming time as an element that counts down; `past` is shown from then on."""
    if at is None:
        return DASH
    shown = f"in {duration(1000 * ((at - now) // 1000))}" if at > now else past
    words = '<time class="count" datetime="{}" title="{} {}" data-until="{}" data-past="{}">{}</time>'
    return Markup(words).format(machine_time(at), moment(at), zone_name(), at, past, shown)


def ticking(at: int | None, now: int) -> Markup | str:
    """Return a time like `when` that is told anew as time goes by."""
    shown = when(at, now)
    is_recent = at is not None and abs(now - at) < _RECENT_MS
    return Markup(str(shown).replace("<time ", f'<time data-at="{at}" ', 1)) if is_recent else shown


def elapsed(since: int | None, until: int | None, now: int) -> Markup | str:
    """Return the time that something took, or an element that counts up while it goes on."""
    if since is None or until is not None:
        return duration(None if since is None or until is None else until - since)
    return Markup('<span class="count" data-since="{}">{}</span>').format(since, duration(now - since))


def moment(at: int) -> str:
    """Return a time to the second, in the visitor's time zone."""
    return datetime.fromtimestamp(at / 1000, TIME_ZONE.get()).strftime("%Y-%m-%d %H:%M:%S")


def clock_time(at: int) -> str:
    """Return the time of day, in the visitor's time zone."""
    return datetime.fromtimestamp(at / 1000, TIME_ZONE.get()).strftime("%H:%M:%S")


def log_time(at_us: int) -> str:
    """Return the time of a log entry, to the millisecond, in the visitor's time zone."""
    return datetime.fromtimestamp(at_us / 1_000_000, TIME_ZONE.get()).strftime("%H:%M:%S.%f")[:-3]


def zone_name() -> str:
    """Return the name of the visitor's time zone, which stands beside absolute times."""
    return TIME_ZONE.get().key


def machine_time(at: int) -> str:
    """Return a time for the `datetime` attribute."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def isolated(text: str | None) -> Markup | str:
    """Return a stranger's text, whose direction of writing does not reach its surroundings."""
    return DASH if not text else Markup("<bdi>{}</bdi>").format(text)


def cut(text: str | None, most: int = 500) -> str:
    """Return a text that is not longer than a page can bear; the whole text is on the page of its thing."""
    if not text:
        return ""
    return text if len(text) <= most else f"{text[:most]}…"


def first_up(text: str) -> str:
    """Return a text that begins with a capital letter, as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:]}"


def address(path: str, values: Mapping[str, Any], **changes: Any) -> str:
    """Return a path with a query: values that are empty are left out."""
    merged = {**values, **changes}
    kept = {name: value for name, value in merged.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(kept)}" if kept else path


def url_path(url: str) -> str:
    """Return a URL without its origin, which stands beside it."""
    parts = urlsplit(url)
    return f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}" if parts.netloc else url


def marked_code(text: str) -> Markup:
    """Return a text whose words between backticks are code."""
    pieces = text.split("`")
    return Markup("").join(Markup("<code>{}</code>").format(one) if at % 2 else one for at, one in enumerate(pieces))


def segment(text: str) -> str:
    """Return a text as one segment of a path."""
    return quote(text, safe="")


FILTERS: Mapping[str, Callable[..., Any]] = {
    "number": number,
    "rate": rate,
    "percent": percent,
    "size": size,
    "duration": duration,
    "interval": interval,
    "counted": counted,
    "when": when,
    "countdown": countdown,
    "elapsed": elapsed,
    "ticking": ticking,
    "moment": moment,
    "price": written_price,
    "first_up": first_up,
    "clock_time": clock_time,
    "log_time": log_time,
    "machine_time": machine_time,
    "bracketed": bracketed,
    "isolated": isolated,
    "cut": cut,
    "segment": segment,
    "url_path": url_path,
    "marked_code": marked_code,
    "browser": browser_name,
    "written_fields": written_fields,
}
"""Filters of templates."""
