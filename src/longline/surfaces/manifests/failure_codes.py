"""Failure codes of the manifest contract, by our reasons."""

from collections.abc import Mapping

from longline.model.frontier.reasons import TIMEOUTS

_FAMILY_CODES: Mapping[str, str] = {
    **dict.fromkeys(TIMEOUTS, "DOWNLOAD_TIMEOUT"),
    "http_4xx": "DOWNLOAD_HTTP_4XX",
    "http_408": "DOWNLOAD_HTTP_4XX",
    "http_425": "DOWNLOAD_HTTP_4XX",
    "http_429": "DOWNLOAD_HTTP_4XX",
    "http_5xx": "DOWNLOAD_HTTP_5XX",
    "proxy_exhausted": "DOWNLOAD_PROXY_EXHAUSTED",
    "checksum": "DOWNLOAD_CHECKSUM_MISMATCH",
    "upload": "UPLOAD_S3_ERROR",
    "bad_url": "VALIDATION_INVALID_URL",
    "internal": "SYSTEM_PANIC",
    "worker_lost": "SYSTEM_WORKER_LOST",
}
_HTTP_REASONS = frozenset({"http_4xx", "http_408", "http_425", "http_429", "http_5xx", "odd_status"})


def family_code(reason: str) -> str:
    """Return the failure code of a reason, with its family; a code of this contract stays as it is."""
    if reason.isupper():
        return reason
    return _FAMILY_CODES.get(reason) or f"DOWNLOAD_{reason.upper()}"


def error_code(reason: str, status: int | None) -> str:
    """Return the code of a failure in a snapshot: an HTTP failure is named by its status."""
    return f"HTTP_{status}" if reason in _HTTP_REASONS and status else family_code(reason)
