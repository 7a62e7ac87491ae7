from longline.model.frontier import RESTS, rest_of
from longline.model.states import TaskState


def test_every_state_has_a_word():
    assert {rest_of(state, None) for state in TaskState} == set(RESTS)


def test_what_moved_away_is_done_and_what_was_taken_out_is_nowhere():
    assert rest_of("skipped", "redirected") == "done"
    assert rest_of("skipped", "robots") == "given_up"
    assert (rest_of("cancelled", "removed"), rest_of("cancelled", "run cancelled")) == ("removed", "given_up")
