"""Retries of downloads of manifests: how often, and after which statuses."""

DEFAULT_ATTEMPTS = 3
"""Attempts of a download without a proxy pool, unless the options of its job type have another number."""
RETRIED_STATUSES = (408, 429, 499)
"""Statuses below 500 after which a download is tried again."""
FINAL_REASONS = ("http_425",)
"""Reasons after which a page is tried again, but a download is not."""
