"""The content security policy of pages, and the reports of browsers that something broke it."""

import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

from longline.surfaces.operation import operation
from longline.surfaces.streamed_body import StreamedBody

REPORT_PATH = "/console/csp-report"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        f"report-uri {REPORT_PATH}",
    )
)

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

MAX_REPORTS = 100
MAX_REPORT_BYTES = 10_000

_log = logging.getLogger(__name__)


class PolicyReports:
    """The last reports of browsers about content that the policy refused; a sound console has none."""

    def __init__(self) -> None:
        self.found: deque[dict[str, Any]] = deque(maxlen=MAX_REPORTS)

    def add(self, text: bytes) -> None:
        """Note a report; any other text is dropped."""
        try:
            report = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return
        self.found.append({"report": report})
        _log.warning("content security policy violated", extra={"report": text[:1000].decode(errors="replace")})


class ReportBody(msgspec.Struct, frozen=True):
    """The body of a report, in the form that browsers send."""


@operation("POST", REPORT_PATH, "Take a report about refused content", access="public", answers={204: None})
async def take_report(services: PolicyReports, body: StreamedBody[ReportBody]) -> None:
    text = b""
    async for piece in body.pieces:
        text += piece
        if len(text) > MAX_REPORT_BYTES:
            return
    services.add(text)


CONTENT_SECURITY = (take_report,)
