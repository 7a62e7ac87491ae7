"""Shapes that answers have, where HTTP does not show it."""

import msgspec

from longline.model.run import Fate, RunRow, Survey
from longline.model.schedule import ScheduleRow
from longline.surfaces.intervals.shapes import crawl_metrics, execution, lock_token

RUN = RunRow(1, "u", "crawl", "running", "{}", "", None, 1, None, 9, 0, 5, 2, 0, 2, None, 1, 1, None, None, 0, None)
ROW = ScheduleRow(1, "018bcfe5-6800-7000-8000-000000000001", None, "", "running", None, 0, 0, 0, 7, 3, 99)


def test_a_lock_has_another_name_with_every_lease():
    assert lock_token(ROW) == lock_token(ROW)
    assert lock_token(ROW) != lock_token(msgspec.structs.replace(ROW, token=4))


def test_what_would_be_empty_is_left_out():
    survey = Survey(0, 0, 0, None, None, None, {}, ())
    run = msgspec.structs.replace(RUN, completed=0, failed=0)
    assert crawl_metrics(survey, run) == {"requests_total": 0, "requests_failed": 0, "bytes_downloaded": 0}


def test_figures_of_a_run():
    fates = (
        Fate("failed", "dns", 1),
        Fate("failed", "refused", 2),
        Fate("failed", "total_timeout", 1),
        Fate("failed", "http_5xx", 1),
        Fate("failed", "internal", 1),
        Fate("skipped", "robots", 3),
        Fate("skipped", "challenge", 2),
        Fate("refused", "depth", 4),
        Fate("refused", "known", 9),
    )
    errors = (("HTTP 500", 2, "https://a.example/"),)
    survey = Survey(5, 99, 1, 2.345, 1, 4, {"200": 5, "429": 2}, errors, fates, bodiless=3, requests=9)
    told = crawl_metrics(survey, RUN)
    assert (told["requests_total"], told["requests_failed"], told["cloudflare_blocks"]) == (9, 2, 2)
    assert told["error_categories"] == {"network": 3, "timeout": 1, "http_server": 1}
    assert told["skipped"] == {"robots_txt": 3, "max_depth": 4, "non_html": 0}
    assert told["top_errors"] == [{"message": "HTTP 500", "count": 2, "last_url": "https://a.example/"}]
    assert (told["rate_limits"], told["response_time"]["avg_ms"]) == (2, 2.35)
    assert told["extraction_quality"] == {"items_indexed": 0, "empty_title_count": 1, "empty_body_count": 3}


def test_a_run_that_waits_is_live():
    assert execution(msgspec.structs.replace(RUN, state="queued"), "j")["status"] == "running"
