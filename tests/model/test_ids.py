"""Ids sort by time, and a task's UUID can be converted back."""

from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from longline.model.ids import entry_uuid, new_id, task_id_of, task_uuid

TASK_IDS = st.integers(1, (1 << 62) - 1)
TIMES = st.integers(0, (1 << 48) - 2)


def test_new_ids_are_version_seven_and_sort_by_time():
    ids = [new_id() for _ in range(1000)]
    assert {UUID(i).version for i in ids} == {7}
    assert ids == sorted(ids)
    assert len(set(ids)) == 1000


@given(TASK_IDS, TIMES)
def test_a_tasks_uuid_is_version_seven_and_can_be_converted_back(task_id: int, created_at: int):
    text = task_uuid(task_id, created_at)
    assert UUID(text).version == 7
    assert UUID(text).variant == "specified in RFC 4122"
    assert task_id_of(text) == (task_id, created_at)
    assert task_id_of(text.upper()) == (task_id, created_at)


@given(TASK_IDS, TIMES)
def test_later_tasks_sort_after_earlier_ones(task_id: int, created_at: int):
    assert task_uuid(task_id, created_at) < task_uuid(task_id, created_at + 1)


def test_a_text_that_is_no_tasks_uuid_is_refused():
    assert task_id_of("no uuid") is None
    assert task_id_of("") is None
    assert task_id_of(str(uuid4())) is None
    # An id with one flipped bit is no other task: the check bits would have to change as well.
    value = UUID(task_uuid(77, 1_700_000_000_000)).int
    assert task_id_of(str(UUID(int=value ^ 1))) is None


def test_ids_of_log_entries_rise_with_their_times():
    ids = [entry_uuid(7, number, 1_700_000_000_000_000 + number) for number in range(1, 5000)]
    assert {UUID(i).version for i in ids} == {7}
    assert ids == sorted(set(ids))
    assert entry_uuid(7, 1, 10**15) != entry_uuid(8, 1, 10**15)
