"""The place of a host in line, as a word, and the order of places."""

from msgspec.structs import replace

from longline.model.frontier.frontier_lists import ListedHost, PlaceInLine

HOST = ListedHost(1, "a.example", 1000, 1, 0, 50, None, 1, 0, 0, None, 3)


def test_a_host_is_held_ready_waiting_or_idle():
    assert HOST.place(now=60) == "ready"
    assert HOST.place(now=40) == "waiting"
    assert replace(HOST, wake_at=None).place(now=60) == "idle"
    assert replace(HOST, owner=7).place(now=60) == "held"


def test_the_default_place_is_before_every_task():
    assert PlaceInLine() < PlaceInLine(0, 0, 0, 0)
