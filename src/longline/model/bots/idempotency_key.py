"""Idempotency keys of submits: a repeated submit gets the answer of the first."""

from longline.model.duration import DAY_MS

IDEMPOTENCY_WINDOW_MS = DAY_MS
"""Time for which a repeated submit gets the answer of the first."""
