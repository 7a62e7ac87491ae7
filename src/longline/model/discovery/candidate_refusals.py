"""Refusals of candidates: places that are candidates already, and the budgets of a day and of a run."""

from longline.model.discovery.candidate import Verdict

KNOWN: dict[Verdict, str] = {
    "new": "already found",
    "pending": "waits for a person",
    "approved": "was approved",
    "rejected": "was rejected",
}
"""Reasons of refusals of places that are candidates already, by the state of the candidate."""

DAY_USED_UP = "the day's budget is used up"
RUN_USED_UP = "the run has found as many as it may"


class CandidateBudget:
    """The number of candidates that may still be made, today and in each run; None means no cap."""

    def __init__(self, today: int | None, in_run: dict[int, int]) -> None:
        self._today, self._in_run = today, in_run

    def refusal(self, run_id: int, state: Verdict | None = None) -> str | None:
        """Return the reason why no candidate may be made, or None after counting one.

        `state` is that of the candidate which the place is already.
        """
        if state is not None:
            return KNOWN[state]
        if self._today is not None and self._today <= 0:
            return DAY_USED_UP
        if self._in_run.get(run_id, 1) <= 0:
            return RUN_USED_UP
        if self._today is not None:
            self._today -= 1
        if run_id in self._in_run:
            self._in_run[run_id] -= 1
        return None
