"""The engine's time: a reference clock plus an offset that changes by steps only while nothing is held.

The reference clock is the machine's monotonic clock for SQLite and the server's clock for PostgreSQL. Leases and
pauses are compared in the engine's time, so a correction of a wall clock reaches it slowly: MAX_SLEW is the greatest
difference in speed between the engine's time and the reference clock.
"""

import msgspec

MAX_SLEW = 0.005
"""Seconds that the engine's time may gain or lose in one second of its reference clock: an hour takes eight days."""


class Anchor(msgspec.Struct, frozen=True):
    """The relation of the engine's time to its reference clock, in milliseconds.

    The engine's time is the reference time plus `offset_ms`. After the reference time `slew_from_ms` it gains
    `slew_ms` in small steps (loses them, when negative). `basis` names the reference clock: a monotonic clock begins
    anew with each start of its machine. `version` goes up with every change.
    """

    version: int = 0
    basis: str = ""
    offset_ms: int = 0
    slew_from_ms: int = 0
    slew_ms: int = 0

    def offset_at(self, reference_ms: float) -> float:
        """Return the difference between the engine's time and the reference clock at a reference time."""
        if not self.slew_ms:
            return float(self.offset_ms)
        gained = max(0.0, reference_ms - self.slew_from_ms) * MAX_SLEW
        return self.offset_ms + (min(gained, self.slew_ms) if self.slew_ms > 0 else max(-gained, self.slew_ms))

    def engine_ms(self, reference_ms: float) -> float:
        """Return the engine's time at a reference time."""
        return reference_ms + self.offset_at(reference_ms)

    @property
    def final_offset_ms(self) -> int:
        """Return the offset after the slew has ended."""
        return self.offset_ms + self.slew_ms

    def slewed(self, reference_ms: float, offset_ms: float, begin_ms: float) -> "Anchor":
        """Return the anchor that goes on without a step and reaches another offset by a slew from `begin_ms` on."""
        now = round(self.offset_at(reference_ms))
        return Anchor(self.version + 1, self.basis, now, round(begin_ms), round(offset_ms) - now)

    def stepped(self, basis: str, offset_ms: float) -> "Anchor":
        """Return the anchor that has another offset at once."""
        return Anchor(self.version + 1, basis, round(offset_ms))
