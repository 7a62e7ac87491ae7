"""What may be said in a signal, and how it is written on a carrier.

Everything goes over one channel with the topic inside, not over a channel for each topic: topics are few and signals
rare, so hearing those of others costs nothing, while a new listener needs no word with the server and a lost
connection is mended by one subscription.
"""

import re
from collections.abc import Iterable

import msgspec

from longline.model.errors import BadInput
from longline.ports.signals import Signal

CHANNEL = "longline"
_TOPIC = re.compile(r"[a-z][a-z0-9_.:-]{0,63}")
_MAX_TEXT = 1000  # even fully escaped this stays below PostgreSQL's 8,000 bytes for a notification


def checked_signal(topic: str, text: str) -> Signal:
    """The signal, or `BadInput` when some carrier could not take it."""
    if len(text) > _MAX_TEXT:
        raise BadInput(f"a signal's text has at most {_MAX_TEXT} characters, not {len(text)}")
    if not _is_unicode(text):
        raise BadInput("a signal's text is not valid Unicode")
    return Signal(_checked_topic(topic), text)


def checked_topics(topics: Iterable[str]) -> frozenset[str]:
    """The topics of a listener; there must be one at least."""
    wanted = frozenset(map(_checked_topic, topics))
    if not wanted:
        raise BadInput("a listener names at least one topic")
    return wanted


def written(signal: Signal) -> str:
    """A signal as a carrier takes it."""
    return msgspec.json.encode(signal).decode()


def read(payload: str | bytes) -> Signal | None:
    """The signal in a payload, or None when somebody else wrote on our channel."""
    try:
        return msgspec.json.decode(payload, type=Signal)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _checked_topic(topic: str) -> str:
    if not _TOPIC.fullmatch(topic):
        raise BadInput(f"{topic!r} is no topic: lower-case letters, digits and _.:- only, at most 64")
    return topic
