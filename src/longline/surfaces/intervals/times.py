"""Times in the contract's format: RFC 3339 in UTC."""

from longline.model.timestamps import written


def rfc3339(at: int | None) -> str | None:
    """Return UTC milliseconds as text."""
    return None if at is None else written(at)
