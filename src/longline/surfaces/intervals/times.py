"""Times as the contract writes them: RFC 3339 in UTC."""

from datetime import UTC, datetime


def rfc3339(at: int | None) -> str | None:
    """Milliseconds as text."""
    if at is None:
        return None
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
