from longline.model.frontier import RESTS, rest_of
from longline.model.states import TaskState


def test_every_state_has_a_word():
    assert {rest_of(state) for state in TaskState} == set(RESTS)
