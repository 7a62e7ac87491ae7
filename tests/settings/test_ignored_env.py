import pytest

from longline.settings import load
from longline.settings.ignored_env import IGNORED_VARIABLES
from longline.settings.values import DURATION, SWITCH

FITTING = {SWITCH: "true", DURATION: "1s"}


@pytest.mark.parametrize("name", IGNORED_VARIABLES)
def test_a_variable_that_nothing_needs_is_told_with_the_reason(name: str):
    ignored = IGNORED_VARIABLES[name]
    assert load(environ={name: FITTING.get(ignored.kind, "1")}).notes == (f"{name} has no effect: {ignored.reason}",)
