"""Requests for jobs become schedules, or change them."""

import msgspec
import pytest

from longline.model.errors import BadInput
from longline.model.schedules.schedule import ScheduleSpec
from longline.surfaces.intervals.jobs.job_requests import JobChanges, JobRequest, changed_spec, new_spec

URL = "https://a.example/"
SPEC = ScheduleSpec(url=URL, every=6, unit="hours", enabled=True, metadata='{"a":1}', source_name="N")


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
