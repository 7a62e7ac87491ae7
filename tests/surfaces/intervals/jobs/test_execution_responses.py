"""The figures of an execution, where HTTP does not show them."""

import msgspec

from longline.model.frontier import reasons
from longline.model.runs.run import Fate, RequestSum, RunKind, RunRow, RunStats
from longline.surfaces.intervals.jobs.error_categories import CATEGORIES
from longline.surfaces.intervals.jobs.execution_responses import crawl_metrics, execution_body

RUN = RunRow(
    1, "u", RunKind.CRAWL, "running", "{}", "", None, 1, None, 9, 0, 5, 2, 0, 2, None, 1, 1, None, None, 0, None
)


def test_empty_figures_are_left_out():
    survey = RunStats()
    run = msgspec.structs.replace(RUN, completed=0, failed=0)
    assert msgspec.to_builtins(crawl_metrics(survey, run)) == {
        "requests_total": 0,
        "requests_failed": 0,
        "bytes_downloaded": 0,
    }


def test_figures_of_a_run():
    asked = (
        RequestSum("ok", 200, 5, 90, 10, 1, 4),
        RequestSum("ok", 301, 1, 0, 2, 2, 2),
        RequestSum("parser_error", 200, 1, 9, 3, 3, 3),
        RequestSum("challenge", 403, 2),
        RequestSum("http_429", 429, 2),
        RequestSum("http_5xx", 503, 1),
        RequestSum("dns", 0, 1),
        RequestSum("refused", 0, 2),
        RequestSum("total_timeout", 0, 1),
        RequestSum("too_many_redirects", 302, 1, ms=1, least_ms=1, most_ms=1),
        RequestSum("internal", 0, 7),
        RequestSum("resent", 0, 3, ms=9, least_ms=3, most_ms=3),
    )
    fates = (Fate("skipped", "robots", 3), Fate("refused", "depth", 4), Fate("refused", "known", 9))
    errors = (("HTTP 500", 2, "https://a.example/"),)
    told = msgspec.to_builtins(crawl_metrics(RunStats(asked, errors, fates, untitled=1, bodiless=3), RUN))
    assert told == {
        "requests_total": 20,
        "requests_failed": 8,
        "bytes_downloaded": 99,
        "status_codes": {"200": 6, "301": 1, "403": 2, "429": 2, "503": 1, "302": 1},
        "cloudflare_blocks": 2,
        "rate_limits": 2,
        "error_categories": {"network": 3, "timeout": 1, "http_client": 2, "http_server": 2},
        "top_errors": [{"message": "HTTP 500", "count": 2, "last_url": "https://a.example/"}],
        "response_time": {"avg_ms": 1.23, "min_ms": 0, "max_ms": 4},
        "skipped": {"robots_txt": 3, "max_depth": 4, "non_html": 0},
        "extraction_quality": {"items_indexed": 0, "empty_title_count": 1, "empty_body_count": 3},
    }


def test_every_failure_of_a_request_is_of_some_kind():
    assert set(CATEGORIES) == (reasons.RETRYABLE.keys() | reasons.FINAL.keys()) - reasons.NOT_OF_REQUESTS


def test_a_run_that_waits_is_live():
    assert execution_body(msgspec.structs.replace(RUN, state="queued"), "j").status == "running"
