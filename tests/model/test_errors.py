"""Errors say in one line what to do about them."""

from longline.model.errors import BadInput, IllegalMove, LonglineError


def test_an_illegal_move_names_what_would_be_legal():
    error = IllegalMove("task", "resume", "failed", ("cancel", "restart"))
    assert str(error) == "cannot resume a task that is failed; legal now: cancel, restart"
    assert str(IllegalMove("run", "start", "cancelled", ())).endswith("legal now: nothing")


def test_bad_input_is_told_apart_from_other_failures_by_its_exit_code():
    assert BadInput("x").exit_code == 2
    assert LonglineError("x").exit_code == 1
