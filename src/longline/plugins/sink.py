"""The `@sink` decorator: a function that sends items to a system of the operator's choice."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from longline.model.sinks.sink import DEFAULT_BATCH_SIZE, TABLE_SCHEMES, WEBHOOK_SCHEMES, SinkItem
from longline.plugins.parser_errors import ParserMistake

SINK_ATTRIBUTE = "__longline_sink__"
RESERVED_SCHEMES = TABLE_SCHEMES | WEBHOOK_SCHEMES

SinkFunction = Callable[[str, Sequence[SinkItem]], Awaitable[None] | None]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class SinkHook:
    """A function that sends items, and the scheme of the addresses that it serves."""

    scheme: str
    batch_size: int
    function: SinkFunction = field(repr=False)

    @property
    def name(self) -> str:
        """Return the scheme, by which the function is found."""
        return self.scheme


def sink(scheme: str, *, batch_size: int = DEFAULT_BATCH_SIZE) -> Callable[[_Function], _Function]:
    """Mark a function that sends items to addresses of this scheme; it gets the address and a batch of one run.

    The function returns after the receiver has confirmed all items of the batch. An exception means that the whole
    batch is sent again later, in the same order and under the same ids; `ItemRefused` names one item that is at fault.
    A function that is not async runs in a thread.
    """
    if not isinstance(scheme, str):
        raise ParserMistake('@sink needs the scheme of its addresses in parentheses, as in @sink("kafka")')
    if not scheme.isascii() or not scheme.isalnum() or scheme != scheme.lower() or scheme in RESERVED_SCHEMES:
        raise ParserMistake(
            f"{scheme!r} cannot be the scheme of a sink: lower-case letters and digits, no built-in scheme"
        )
    if batch_size < 1:
        raise ParserMistake("batch_size of a sink is 1 or more")

    def mark(function: _Function) -> _Function:
        if len(inspect.signature(function).parameters) != 2:
            raise ParserMistake(f"sink {function.__name__} must take the address and the items")
        setattr(function, SINK_ATTRIBUTE, SinkHook(scheme, batch_size, function))
        return function

    return mark
