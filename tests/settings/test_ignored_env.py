import pytest

from longline.settings import load
from longline.settings.ignored_env import NEEDLESS
from longline.settings.values import PAUSE, SWITCH

FITTING = {SWITCH: "true", PAUSE: "1s"}


@pytest.mark.parametrize("name", NEEDLESS)
def test_a_variable_that_nothing_needs_is_told_with_the_reason(name: str):
    needless = NEEDLESS[name]
    assert load(environ={name: FITTING.get(needless.kind, "1")}).notes == (f"{name} has no effect: {needless.why}",)
