"""Errors name their remedy in one line."""

from longline.model.errors import BadInput, IllegalMove, LonglineError


def test_an_illegal_move_names_the_legal_ones():
    error = IllegalMove("task", "resume", "failed", ("cancel", "restart"))
    assert str(error) == "cannot resume a task that is failed; legal now: cancel, restart"
    assert str(IllegalMove("run", "start", "cancelled", ())).endswith("legal now: nothing")


def test_bad_input_has_an_exit_code_of_its_own():
    assert BadInput("x").exit_code == 2
    assert LonglineError("x").exit_code == 1
