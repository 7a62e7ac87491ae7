"""Takes back from a worker what belongs to runs that have ended meanwhile: whoever cancels a run wants quiet."""

from longline.engine.frontier.held_hosts import HeldHosts
from longline.ports.records.runs import RunHistoryStore


class EndedRunFilter:
    """Looks whether the runs in a worker's hand still go on."""

    def __init__(self, hand: HeldHosts, history: RunHistoryStore) -> None:
        self._hand, self._history = hand, history

    async def once(self) -> None:
        """Look once."""
        if ended := await self._history.ended(sorted(self._hand.runs)):
            self._hand.forget(ended)
