"""Every problem of a field is found, with its kind and the text that the field has for it."""

from typing import Any

import pytest
from msgspec import inspect as types

from longline.surfaces.error_format import problem_text
from longline.surfaces.field_problems import Problem, object_problems
from tests.surfaces.order import Order


def problems(sent: Any) -> list[Problem]:
    order = types.type_info(Order)
    assert isinstance(order, types.StructType)
    return list(object_problems(sent, order))


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ({}, [("name", "missing")]),
        ({"name": None}, [("name", "null")]),
        ({"name": 7}, [("name", "type")]),
        ({"name": ""}, [("name", "too_short")]),
        ({"name": "aaaaaa"}, [("name", "too_long")]),
        ({"name": "A"}, [("name", "pattern")]),
        ({"name": "a", "count": -1}, [("count", "minimum")]),
        ({"name": "a", "count": 10**30}, [("count", "maximum")]),
        ({"name": "a", "count": True}, [("count", "type")]),
        ({"name": "a", "even": 3}, [("even", "check")]),
        ({"name": "a", "kind": "c"}, [("kind", "choice")]),
        ({"name": "a", "tags": []}, [("tags", "too_few")]),
        ({"name": "a", "tags": ["a", "b", "c"]}, [("tags", "too_many")]),
        ({"name": "a", "tags": ["a", 1]}, [("tags[1]", "type")]),
        ({"name": "a", "at": "soon"}, [("at", "type")]),
        ({"name": "a", "inner": {"size": 0}}, [("inner.size", "minimum")]),
        ({"name": "a", "inner": 7}, [("inner", "type")]),
        ({"name": "a", "rate": []}, [("rate", "type")]),
        ({"count": "x", "even": 3}, [("name", "missing"), ("count", "type"), ("even", "check")]),
    ],
)
def test_every_problem_is_named(sent: Any, found: list[tuple[str, str]]):
    assert [(problem.field, problem.kind) for problem in problems(sent)] == found


def test_a_field_may_have_its_own_text_for_a_problem():
    [problem] = problems({"name": "a", "kind": "{c}"})
    assert problem_text(problem) == "no such kind: {c}"
