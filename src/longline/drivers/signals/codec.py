"""Limits of a signal, and its encoding for a transport.

All signals share one channel with the topic inside, instead of a channel for each topic: topics are few and signals
rare, so receiving other topics costs nothing, while a new listener needs no request to the server and a lost connection
is restored by one subscription.
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
    """Return the signal; raise `BadInput` when some transport could not carry it."""
    if len(text) > _MAX_TEXT:
        raise BadInput(f"a signal's text has at most {_MAX_TEXT} characters, not {len(text)}")
    if not _is_unicode(text):
        raise BadInput("a signal's text is not valid Unicode")
    return Signal(_checked_topic(topic), text)


def checked_topics(topics: Iterable[str]) -> frozenset[str]:
    """Return the topics of a listener, at least one."""
    wanted = frozenset(map(_checked_topic, topics))
    if not wanted:
        raise BadInput("a listener names at least one topic")
    return wanted


def written(signal: Signal) -> str:
    """Return a signal encoded for a transport."""
    return msgspec.json.encode(signal).decode()


def read(payload: str | bytes) -> Signal | None:
    """Return the signal in a payload, or None for a payload of another program on the channel."""
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
