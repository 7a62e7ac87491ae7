"""How often somebody may come: so many times a minute, saved up to one minute's worth."""

from collections.abc import Callable

MOST = 10_000
"""So many are remembered; whoever has not come for a minute is forgotten first."""

MINUTE = 60.0


class Pace:
    """Counts in this process alone; several servers allow as many times more."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, name: str, per_minute: int) -> float:
        """Zero when `name` may come now, which is counted; otherwise the seconds until it may."""
        now = self._monotonic()
        left, since = self._left.get(name, (float(per_minute), now))
        left = min(float(per_minute), left + (now - since) * per_minute / MINUTE)
        if left < 1:
            return (1 - left) * MINUTE / per_minute
        self._left[name] = (left - 1, now)
        if len(self._left) > MOST:
            self._left = {n: kept for n, kept in self._left.items() if now - kept[1] < MINUTE}
        return 0.0
