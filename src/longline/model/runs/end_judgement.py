"""The judgement of a run at its end, and the other rules of the end."""

from typing import Literal

import msgspec

from longline.model.runs.end_effect import PlannedEffect

Judgement = Literal["never", "all", "any"]
"""The rule by which a run fails: never, when all of its tasks failed to complete, or when any of them did."""


class EndRules(msgspec.Struct, frozen=True):
    """The rules of a run's end."""

    judged: Judgement = "never"
    """Rule by which the run fails: `never`, `all` if no task completed, `any` if one task did not complete."""

    effects: tuple[PlannedEffect, ...] = ()
    """Effects that follow the end exactly once."""


class _StoredRules(msgspec.Struct, frozen=True):
    """The part of a stored plan that has the rules of the end; the other parts are not read."""

    end: EndRules = EndRules()


_DECODER = msgspec.json.Decoder(_StoredRules)


def stored_end_rules(plan: str) -> EndRules:
    """Return the rules of the end from a stored plan, without reading the rest of the plan.

    A run whose plan cannot be read must be able to end, and ends by the usual rules.
    """
    try:
        return _DECODER.decode(plan).end
    except msgspec.DecodeError:
        return EndRules()


def is_failed(judged: Judgement, admitted: int, completed: int) -> bool:
    """Return whether a run fails that has no open task and this many admitted and completed ones."""
    if judged == "never" or not admitted:
        return False
    return completed == 0 if judged == "all" else completed < admitted
