"""Start pages: the failure of a run without a page from its start URL."""

import pytest

from longline.model.runs.start_page import StartOutcome

START = "https://a.example/"


@pytest.mark.parametrize(
    ("state", "reason", "error", "fetched", "failure"),
    [
        ("completed", "ok", None, 0, None),
        ("skipped", "robots", None, 0, f"start URL refused by robots.txt: {START}"),
        ("skipped", "robots", None, 5, f"start URL refused by robots.txt: {START}"),
        ("skipped", "redirected", None, 0, f"start URL {START} redirects to another site"),
        (
            "skipped",
            "redirected",
            "redirected to https://b.example/",
            0,
            f"start URL {START} redirects to another site: redirected to https://b.example/",
        ),
        ("failed", "http_5xx", "HTTP 503", 0, f"start URL {START} brought no page: HTTP 503"),
        ("failed", "dns", None, 0, f"start URL {START} brought no page: dns"),
        ("skipped", "content_type", None, 0, f"start URL {START} brought no page: content_type"),
        ("failed", "http_5xx", "HTTP 503", 1, None),
        ("cancelled", "run cancelled", None, 0, None),
    ],
)
def test_a_start_url_without_a_page_fails_a_run_that_fetched_nothing_else(
    state: str, reason: str, error: str | None, fetched: int, failure: str | None
):
    assert StartOutcome(START, state, reason, error).failure(fetched) == failure
