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
