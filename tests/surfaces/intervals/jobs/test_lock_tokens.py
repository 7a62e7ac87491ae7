"""The lock tokens of jobs."""

from uuid import UUID

import msgspec

from longline.surfaces.intervals.jobs.lock_tokens import lock_token
from tests.surfaces.intervals.jobs.test_job_responses import ROW


def test_a_lock_has_another_name_with_every_lease():
    assert lock_token(ROW) == lock_token(ROW)
    assert lock_token(ROW) != lock_token(msgspec.structs.replace(ROW, token=4))


def test_the_name_of_a_lock_is_a_uuid_of_its_job():
    other = msgspec.structs.replace(ROW, uid="018bcfe5-6800-7000-8000-000000000002")
    assert str(UUID(lock_token(ROW))) == lock_token(ROW) != lock_token(other)
