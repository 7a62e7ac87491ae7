"""The quality gate: pages with too little text are not indexed."""

MIN_WORDS = 50
"""Least words of a page that is indexed."""

_BUCKETS = (50, 100, 200, 500, 1000, 2000)


def skip_reason(title: str, words: int) -> str | None:
    """Return the reason for not indexing a page of that many words, or None."""
    return "quality_gate" if (not title and not words) or words < MIN_WORDS else None


def bucket(words: int) -> str:
    """Return the bucket of a word count for metrics."""
    return next((f"<{limit}" for limit in _BUCKETS if words < limit), f">={_BUCKETS[-1]}")
