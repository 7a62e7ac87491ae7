"""Takes back from a worker what belongs to runs that have ended meanwhile: whoever cancels a run wants quiet."""

from longline.engine.worker import Worker
from longline.ports.records.runs import History


class Recall:
    """Looks whether the runs in a worker's hand still go on."""

    def __init__(self, worker: Worker, history: History) -> None:
        self._worker, self._history = worker, history

    async def once(self) -> None:
        """Look once."""
        if ended := await self._history.ended(sorted(self._worker.runs)):
            self._worker.forget(ended)
