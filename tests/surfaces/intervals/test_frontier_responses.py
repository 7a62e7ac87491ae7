"""URLs of the frontier in the format of the contract."""

import msgspec

from longline.model.frontier.standing_frontier import StandingUrl
from longline.surfaces.intervals.frontier_responses import url_body

ROW = StandingUrl(
    id=1,
    task_id=1,
    url="https://a.example/",
    host="a.example",
    kind="frontier.manual",
    source="7",
    parent_url=None,
    depth=0,
    priority=500,
    state="pending",
    reason="http_5xx",
    error=None,
    status=503,
    next_at=0,
    attempt=2,
    created_at=0,
    updated_at=0,
    finished_at=None,
    fetched_at=None,
    digest=None,
    etag=None,
    last_modified=None,
)


def test_a_url_that_is_tried_again_shows_its_error():
    shown = url_body(ROW)
    assert (shown.origin, shown.retry_count, shown.last_error) == ("manual", 2, "http status 503")


def test_a_restarted_url_shows_none():
    assert url_body(msgspec.structs.replace(ROW, reason="restart", attempt=0)).last_error is None
