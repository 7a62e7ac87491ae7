"""The audit: who changed which thing, from which state to which, with secrets masked.

An operation that changes something on a person's order runs in an audit context. The first transaction of the operation
that changes a thing of the context's noun writes the one audit row of the operation. An operation that changes many
things in several transactions writes a row in each.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import msgspec

from longline.model.callers.caller import Caller

MASK = "***"
MAX_STATE_CHARS = 65_536
"""Largest size of a state in an audit row; a larger one is replaced by its size."""

MAX_REASON_CHARS = 2000

_SECRET_NAME = re.compile(
    r"pass(word|wd|phrase)?$|pwd$|secret|tokens?$|(api|access|private|encryption|signing)[-_]?key|auth(orization)?$|bearer"
    r"|cookie|credential|session_?id$|signature$|headers$",
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(r"(://[^:/@\s]*):(?:(?!://)[^\s/@])*@")
_NUMBERED = frozenset({"token"})
"""Names that hold no secret where their value is a number: the token of a lease."""

State = Mapping[str, Any]
"""A thing as it was before or after a change."""

NAMED_TOO = frozenset({"schedule", "source"})
"""Nouns whose things are found by a number or by a text, the id outside or the name."""

UNAUDITED = frozenset({"robots_text"})
"""Columns that are too long for a state; the time of a fetch shows their change."""


class AuditContext:
    """An operation that a caller ordered: the API it came by, the action as `noun.verb`, and the caller's reason."""

    __slots__ = ("action", "caller", "door", "is_written", "noun", "reason")

    def __init__(self, caller: Caller, door: str, action: str, reason: str | None = None) -> None:
        self.caller, self.door, self.action = caller, door, action
        self.reason = None if reason is None else mask_text(reason)[:MAX_REASON_CHARS]
        self.noun, self.is_written = action.partition(".")[0], False


AUDIT_CONTEXT: ContextVar[AuditContext | None] = ContextVar("audit_context", default=None)
"""The operation of the present task, if a caller ordered one."""


@contextmanager
def audited_as(context: AuditContext) -> Iterator[None]:
    """Audit the changes of a block."""
    mark = AUDIT_CONTEXT.set(context)
    try:
        yield
    finally:
        AUDIT_CONTEXT.reset(mark)


def audit_context(noun: str, *, piece: bool = False) -> AuditContext | None:
    """Return the context whose audit row a change of a thing has to write, if there is one.

    A `piece` is one of several transactions of an operation, each of which writes a row of its own.
    """
    context = AUDIT_CONTEXT.get()
    if context is None or context.noun != noun or (context.is_written and not piece):
        return None
    return context


def name_action(action: str) -> None:
    """Name the action of the present operation, for an operation that does one of several."""
    context = AUDIT_CONTEXT.get()
    if context is not None:
        context.action = action


class AuditRow(msgspec.Struct, frozen=True):
    """An audit row; `before` and `after` are JSON, with None for a thing that was not there.

    `number` is the id of a source in the database, which one API shows; others show `thing`.
    """

    id: int
    uid: str
    at: int
    subject: str
    name: str
    role: str
    kind: str
    tenant: str
    door: str
    action: str
    noun: str
    thing: str
    before: str | None
    after: str | None
    reason: str | None
    address: str
    number: int | None = None


class AuditFilter(msgspec.Struct, frozen=True):
    """A choice of audit rows; an action that ends in a dot stands for all actions that begin with it.

    With a `number` beside the `thing`, rows of the source with that id are chosen too.
    """

    subject: str | None = None
    action: str | None = None
    noun: str | None = None
    thing: str | None = None
    number: int | None = None
    tenant: str | None = None
    since: int | None = None
    until: int | None = None


def state_text(state: State | None) -> str | None:
    """Return a state as JSON, with secrets masked."""
    if state is None:
        return None
    text = msgspec.json.encode(masked(dict(state))).decode()
    return text if len(text) <= MAX_STATE_CHARS else f'{{"omitted_chars":{len(text)}}}'


def masked(value: Any, name: str = "") -> Any:
    """Return a value without secrets: those of fields with a telling name, and the passwords of URLs.

    Texts that are JSON are looked into.
    """
    if _is_secret(name, value):
        return MASK
    if isinstance(value, Mapping):
        return {key: masked(each, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [masked(each) for each in value]
    if isinstance(value, str):
        return masked(found) if (found := _nested(value)) is not None else mask_text(value)
    return value


def mask_text(text: str) -> str:
    """Return a text with the passwords of its URLs masked."""
    return _URL_PASSWORD.sub(rf"\1:{MASK}@", text)


def _is_secret(name: str, value: Any) -> bool:
    if not value or (name in _NUMBERED and isinstance(value, int)):
        return False
    return _SECRET_NAME.search(name) is not None


def _nested(text: str) -> Any:
    """Return the list or object that a text of JSON holds, or None."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
