import pytest

from longline.model.frontier.standing_frontier import STATES_BY_LIST, host_of, rest_of
from longline.model.states import TaskState
from longline.model.urls.url import parse


def test_every_state_has_a_word():
    assert {rest_of(state, None) for state in TaskState} == set(STATES_BY_LIST)


def test_redirected_tasks_are_done_and_removed_ones_are_removed():
    assert rest_of("skipped", "redirected") == "done"
    assert rest_of("skipped", "robots") == "given_up"
    assert (rest_of("cancelled", "removed"), rest_of("cancelled", "run cancelled")) == ("removed", "given_up")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example:443/", "a.example"),
        ("https://a.example:80/", "a.example"),
        ("https://a.example:8080/", "a.example:8080"),
        ("http://[::1]:443/", "[::1]"),
    ],
)
def test_the_usual_port_of_either_scheme_is_none(url: str, host: str):
    assert host_of(parse(url)) == host
