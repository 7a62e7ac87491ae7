"""Signs of states and things: each state has a shape of its own, and never colour alone."""

from collections.abc import Mapping

from markupsafe import Markup

STATE_TONES: Mapping[str, str] = {
    "pending": "",
    "queued": "",
    "queued_parse": "",
    "scheduled": "",
    "running": "work",
    "crawling": "work",
    "downloaded": "work",
    "parsing": "work",
    "completed": "done",
    "skipped": "skip",
    "failed": "fail",
    "cancelled": "stop",
    "paused": "hold",
    "expired": "warn",
    "enabled": "quiet",
    "disabled": "stop",
}
"""The tone of each state: a class of badges and bars."""

_SIGNS: Mapping[str, str] = {
    "crawling": "s-running",
    "queued_parse": "s-queued",
    "enabled": "s-completed",
    "disabled": "s-cancelled",
}

_CHECK_SIGNS: Mapping[str, tuple[str, str, str, str]] = {
    "healthy": ("s-completed", "good", "ok", "done"),
    "unhealthy": ("s-failed", "bad", "down", "fail"),
    "degraded": ("s-warn", "warm", "degraded", "warn"),
}
"""The sign of each status of an engine, the colour of the sign alone, and word and tone of the badge."""


def icon(name: str, classes: str = "") -> Markup:
    """Return a sign of `templates/sprite.html`; a word stands beside it."""
    return Markup('<svg class="i {}" aria-hidden="true"><use href="#{}"/></svg>').format(classes, name)


def state_badge(state: str, *, is_big: bool = False) -> Markup:
    """Return the badge of a state: sign, word and tone."""
    classes = f"{STATE_TONES.get(state, '')} {'big' if is_big else ''}".strip()
    return badge(_SIGNS.get(state, f"s-{state}"), state.replace("_", " "), classes)


def badge(sign: str, text: str, tone: str = "") -> Markup:
    """Return a badge of anything that is no state."""
    return Markup('<span class="badge {}">{}{}</span>').format(tone, icon(sign), text)


def check_icon(status: str) -> Markup:
    """Return the sign of the status of an engine."""
    sign, colour, _, _ = _CHECK_SIGNS[status]
    return icon(sign, colour)


def check_badge(status: str) -> Markup:
    """Return the badge of the status of an engine."""
    sign, _, word, tone = _CHECK_SIGNS[status]
    return badge(sign, word, tone)


def event_tone(became: str | None, reason: str | None = None) -> str:
    """Return the tone of a move in a history; a task that is pending for a reason has failed once."""
    if became == "failed" or (became == "pending" and reason):
        return "fail"
    return "done" if became == "completed" else ""
