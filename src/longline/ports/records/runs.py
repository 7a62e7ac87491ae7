"""Runs: executions, with counts that always add up."""

from typing import Protocol

from longline.model.run import Fate, NewRun, RunRow


class Runs(Protocol):
    """Remembers runs; their states move in `Moves`, their counts with their tasks."""

    async def add(self, run: NewRun) -> RunRow:
        """Make a run, `queued`."""
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

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        """Runs, newest first."""
        ...

    async def fates(self, run_id: int) -> list[Fate]:
        """How the run's URLs ended so far, by fate and reason."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many runs there are in each state."""
        ...
