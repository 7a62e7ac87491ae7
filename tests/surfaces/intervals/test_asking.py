"""What is read from requests."""

import pytest

from longline.model.errors import BadInput
from longline.surfaces.intervals.asking import known_id, present, typed


def test_a_field_has_its_type():
    found = {"a": 1, "b": True, "c": None, "d": "x"}
    assert [typed(found, "a", int), typed(found, "b", bool), typed(found, "c", str), typed(found, "e", str)] == [
        1,
        True,
        None,
        None,
    ]
    for name, kind in (("b", int), ("a", str), ("d", dict), ("a", bool), ("d", list)):
        with pytest.raises(BadInput, match=f"{name} must be"):
            typed(found, name, kind)


def test_small_things():
    assert present({"a": None, "b": 0, "c": False}) == {"b": 0, "c": False}
    assert known_id("x") == "x"
    with pytest.raises(BadInput, match="Invalid job ID"):
        known_id("undefined")
