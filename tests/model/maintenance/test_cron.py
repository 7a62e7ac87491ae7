"""Cron expressions: their times, and those that are refused."""

from datetime import UTC, datetime

import pytest

from longline.model.errors import BadInput
from longline.model.maintenance.cron import INVALID_CRON, Cron


def _next(text: str, after: str) -> str:
    at = datetime.fromisoformat(after).replace(tzinfo=UTC)
    found = Cron.parse(text).next_after(round(at.timestamp() * 1000))
    return datetime.fromtimestamp(found / 1000, UTC).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "after", "found"),
    [
        ("35 0 1 * *", "2026-03-31 23:59", "2026-04-01 00:35"),
        ("35 0 1 * *", "2026-04-01 00:35", "2026-05-01 00:35"),
        ("35 0 1 * *", "2026-04-01 00:34:59.999", "2026-04-01 00:35"),
        ("* * * * *", "2026-12-31 23:59", "2027-01-01 00:00"),
        ("*/15 9-17 * * mon-fri", "2026-11-20 17:45", "2026-11-23 09:00"),
        ("0 0 29 2 *", "2026-01-01 00:00", "2028-02-29 00:00"),
        ("0 0 13 * 5", "2026-11-01 00:00", "2026-11-06 00:00"),  # a Friday or a 13th, as in Vixie cron
        ("0 0 * * 7", "2026-11-18 00:00", "2026-11-22 00:00"),
        ("5,10 1 1 JAN *", "2026-01-01 01:05", "2026-01-01 01:10"),
        ("10/20 * * * *", "2026-01-01 00:10", "2026-01-01 00:30"),
    ],
)
def test_an_expression_has_its_next_time(text: str, after: str, found: str):
    assert _next(text, after) == found


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *"),
        *("* * * * 8", "5-1 * * * *", "*/0 * * * *", "a * * * *", "* * * * monday", "1, * * * *", "0 0 31 2 *"),
        *("-1 * * * *", "1--2 * * * *", "@daily", "* * * * * ; x"),
    ],
)
def test_an_invalid_expression_is_refused(text: str):
    with pytest.raises(BadInput, match=INVALID_CRON):
        Cron.parse(text)
