"""Schedules as jobs."""

import msgspec

from longline.model.schedules.schedule import ScheduleRow
from longline.surfaces.intervals.jobs.job_responses import job_body

UID = "018bcfe5-6800-7000-8000-000000000001"
URL = "https://a.example/"
ROW = ScheduleRow(
    id=1,
    uid=UID,
    source_id=None,
    url=URL,
    state="running",
    interval_ms=None,
    next_due=0,
    created_at=0,
    updated_at=0,
    owner=7,
    token=3,
    lease_until=99,
)


def test_only_a_held_job_shows_a_lock():
    assert job_body(ROW, 99).lock_acquired_at == "1970-01-01T00:00:00.000Z"
    assert job_body(msgspec.structs.replace(ROW, owner=None), 99).lock_token is None
