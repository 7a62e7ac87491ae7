"""Events: a change, its actor and its reason, written in the transaction of the change."""

import msgspec


class Event(msgspec.Struct, frozen=True):
    """One change, or one batch of task moves of a run (`moves` lists [task id, was, became, reason])."""

    id: int
    at: int
    noun: str
    subject: int
    move: str
    was: str | None
    became: str | None
    actor: str
    reason: str | None
    moves: str | None
