"""Moments of a worker's monotonic clock in the engine's time, each conversion rather late than early."""

from longline.model.engine_clock import MAX_SLEW
from longline.ports.clock import Clock


def engine_time(clock: Clock, moment: float) -> int:
    """Return the engine's time at a moment of the monotonic clock, late enough for the error of the clock.

    The engine's time may run faster than the monotonic clock, by MAX_SLEW at most: a pause that is written down for
    another worker is longer by that much.
    """
    ahead = latest_monotonic(clock, moment) - clock.monotonic()
    return clock.now() + round(ahead * 1000) + 1


def latest_monotonic(clock: Clock, moment: float) -> float:
    """Return the moment of the monotonic clock by which the engine's time has certainly reached an earlier one."""
    return moment + max(0.0, moment - clock.monotonic()) * MAX_SLEW + clock.error()


def held_seconds(lease_seconds: float) -> float:
    """Return the seconds for which a holder may count on a lease, from the moment before the lease was requested."""
    return lease_seconds * (1 - MAX_SLEW)
