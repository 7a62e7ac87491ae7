"""Signs of engines and of moves."""

import pytest

from longline.console.drawing.icons import check_badge, check_icon, event_tone


def test_an_engine_that_is_away_is_down():
    assert "down" in check_badge("unhealthy")
    assert "s-failed" in check_icon("unhealthy")


@pytest.mark.parametrize(
    ("became", "reason", "tone"),
    [("failed", None, "fail"), ("pending", "http_5xx", "fail"), ("pending", None, ""), ("completed", "ok", "done")],
)
def test_a_retry_is_shown_as_a_failure(became: str, reason: str | None, tone: str):
    assert event_tone(became, reason) == tone
