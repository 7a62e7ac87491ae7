"""Fair shares: the host, and then the run, with the least use goes first."""

from longline.engine.parse.fair_queue import MAX_REMEMBERED, FairQueue
from longline.engine.parse.page_parser import Share


def taken(queue: FairQueue[str], count: int) -> str:
    """Take so many entries, each parsed in a second; return them."""
    out = []
    for _ in range(count):
        thing = queue.take()
        assert thing is not None
        out.append(thing)
        queue.done(Share(thing[0], int(thing[1])), 1.0)
    return " ".join(out)


def test_hosts_take_turns_and_within_a_host_its_runs():
    queue = FairQueue[str]()
    for thing in ("a1", "a1", "a1", "a2", "b1", "b1"):
        queue.put(Share(thing[0], int(thing[1])), thing)
    assert len(queue) == len(list(queue)) == 6
    assert taken(queue, 6) == "a1 b1 a2 b1 a1 a1"
    assert queue.take() is None


def test_a_host_that_arrives_late_has_no_credit():
    queue = FairQueue[str]()
    for _ in range(10):
        queue.put(Share("a", 1), "a1")
    taken(queue, 5)
    for _ in range(5):
        queue.put(Share("b", 1), "b1")
    assert taken(queue, 4).count("a1") == 2


def test_the_number_of_remembered_hosts_is_bounded():
    queue = FairQueue[str]()
    for number in range(MAX_REMEMBERED + 10):
        queue.put(Share(f"h{number}", 1), "x")
        queue.take()
    assert len(queue._hosts._accounts) <= MAX_REMEMBERED
