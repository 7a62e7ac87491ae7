import msgspec

from longline.model.frontier.task import ClaimedTask, KnownPage

TASK = ClaimedTask(7, "https://a.example/", 1, 0, 0, 1, 500, 0)


def test_the_tasks_own_page_is_no_earlier_page():
    own, other = [msgspec.structs.replace(TASK, known=KnownPage(task_id, "", 0)) for task_id in (7, 8)]
    assert (TASK.earlier, own.earlier, other.earlier) == (None, None, other.known)
