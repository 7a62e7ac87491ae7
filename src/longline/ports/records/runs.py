"""Runs: executions, with counts that always add up."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.runs.run import DayTotals, Fate, NewRun, RunReview, RunRow, RunSummary, RunTotals


class RunStore(Protocol):
    """Remembers runs; their states move in `MoveStore`, their counts with their tasks."""

    async def add(self, run: NewRun) -> RunRow:
        """Make a run, `queued`."""
        ...

    async def ensure(self, run: NewRun) -> RunRow:
        """Make a standing run, `queued`, unless there is one of its kind and seed; that one."""
        ...

    async def get(self, run_id: int) -> RunRow | None:
        """One run."""
        ...

    async def latest(self, kind: str, seed: str) -> RunRow | None:
        """The newest run of that kind from that seed, whatever its state."""
        ...

    async def first(self, kind: str, seed: str) -> RunRow | None:
        """The oldest run of that kind from that seed."""
        ...

    async def replan(self, run_id: int, plan: str, source_id: int | None) -> bool:
        """Give a standing run another plan, and the source it is for; False when there is no such run."""
        ...

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        """Runs, newest first."""
        ...

    async def fates(self, run_id: int) -> list[Fate]:
        """How the run's URLs ended so far, by fate and reason."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many runs there are in each state."""
        ...


class RunHistoryStore(Protocol):
    """The runs of schedules, as far back as they are remembered."""

    async def named(self, uid: str) -> RunRow | None:
        """One run, by the id that is known outside."""
        ...

    async def find(self, schedule_id: int, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        """Runs of a schedule, newest first."""
        ...

    async def record(self, schedule_id: int | None = None) -> RunTotals:
        """How the runs of a schedule, or of all of them, went."""
        ...

    async def brought(self, since: int) -> DayTotals:
        """What completed runs brought that started since then."""
        ...

    async def items(self, run_id: int) -> int:
        """How many documents a run has brought so far."""
        ...

    async def review(self, run_ids: Sequence[int]) -> dict[int, RunReview]:
        """How runs began, and what their pages add up to."""
        ...

    async def note(self, notes: Mapping[int, RunSummary]) -> None:
        """Keep with runs what is known of them now that they have ended."""
        ...

    async def ended(self, run_ids: Sequence[int]) -> list[int]:
        """Those of these runs that have ended."""
        ...

    async def prune(self, keep: int, before: int, limit: int = 1000) -> int:
        """Take runs out of histories: all but the newest `keep` of a schedule, and all that are older; how many."""
        ...
