"""Jobs and schedules, each made from the other."""

import msgspec
import pytest

from longline.model.errors import BadInput
from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.surfaces.intervals.jobs.job_bodies import (
    JobChanges,
    JobRequest,
    changed_spec,
    job_body,
    lock_token,
    new_spec,
)

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
SPEC = ScheduleSpec(url=URL, every=6, unit="hours", enabled=True, metadata='{"a":1}', source_name="N")


def test_a_lock_has_another_name_with_every_lease():
    assert lock_token(ROW) == lock_token(ROW)
    assert lock_token(ROW) != lock_token(msgspec.structs.replace(ROW, token=4))


def test_only_a_held_job_shows_a_lock():
    assert job_body(ROW, 99).lock_acquired_at == "1970-01-01T00:00:00.000Z"
    assert job_body(msgspec.structs.replace(ROW, owner=None), 99).lock_token is None


def test_null_means_the_default_of_a_new_job():
    sent = dict.fromkeys(JobRequest.__struct_fields__) | {"url": f" {URL} "}
    assert new_spec(msgspec.convert(sent, JobRequest)) == new_spec(JobRequest(url=URL)) == ScheduleSpec(url=URL)


def test_every_setting_is_kept():
    sent = JobRequest(
        url=URL, interval_minutes=6, interval_type="hours", schedule_enabled=True, metadata={"a": 1}, source_name="N"
    )
    assert new_spec(sent) == SPEC


def test_absent_null_and_empty_changes_keep_the_values():
    sent = dict.fromkeys(JobChanges.__struct_fields__)
    del sent["interval_minutes"]
    assert changed_spec(SPEC, JobChanges()) == changed_spec(SPEC, JobChanges(**sent)) == SPEC
    empty = JobChanges(url="", source_name="", interval_type="", type="", schedule_time="", source_id="")
    assert changed_spec(SPEC, empty) == SPEC


def test_an_interval_of_null_makes_a_job_run_once():
    once = changed_spec(SPEC, JobChanges(interval_minutes=None))
    assert (once.every, once.enabled) == (None, False)
    with pytest.raises(BadInput, match="interval_minutes is required when schedule_enabled is true"):
        changed_spec(SPEC, JobChanges(interval_minutes=None, schedule_enabled=True))


def test_an_interval_has_a_bound():
    with pytest.raises(BadInput, match="interval_minutes must not be more than ten years"):
        new_spec(JobRequest(url=URL, interval_minutes=4000, interval_type="days"))
