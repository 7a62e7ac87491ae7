"""Removal of the tasks of ended runs from a worker's hand: a cancelled run must send no more requests."""

from longline.engine.frontier.held_hosts import HeldHosts
from longline.ports.records.runs import RunHistoryStore


class EndedRunFilter:
    """A filter that drops tasks of ended runs from a worker's hand."""

    def __init__(self, hand: HeldHosts, history: RunHistoryStore) -> None:
        self._hand, self._history = hand, history

    async def once(self) -> None:
        """Drop the unstarted tasks of runs that have ended."""
        if ended := await self._history.ended(sorted(self._hand.runs)):
            self._hand.forget(ended)
