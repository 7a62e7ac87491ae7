"""Every example of the document is a request that its operation reads, or a response that it gives."""

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from prometheus_client import CollectorRegistry

from longline.services.callers.callers import Callers
from longline.services.callers.tokens import Tokens
from longline.surfaces.door import Door
from longline.surfaces.intervals.door import IntervalServices, intervals_door
from longline.surfaces.operation import Content, Operation
from longline.surfaces.request_reader import RequestReader


class Anything(SimpleNamespace):
    """A stand-in for services that nothing calls."""

    def __getattr__(self, name: str) -> Any:
        return Anything()


def door() -> Door:
    """Return the whole door, with no services behind it."""
    nothing = cast(Any, Anything())
    services = IntervalServices(**dict.fromkeys(IntervalServices.__slots__, nothing) | {"internal_secret": "s"})
    return intervals_door(services, Callers(Tokens("s" * 64, lambda: 0)), CollectorRegistry())


OPERATIONS = {operation.name: operation for group in door().groups for operation in group.operations}


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.body])
def test_the_example_of_a_request_is_read(name: str):
    operation = OPERATIONS[name]
    assert operation.body is not None
    sent = operation.request_example
    assert sent, "the operation has an example"
    read = RequestReader(operation.body).body(msgspec.json.encode(sent))
    known = {field.encode_name for field in msgspec.structs.fields(type(read))}
    assert set(sent) <= known


def is_json(operation: Operation) -> bool:
    answer = operation.answers[operation.status]
    return answer is not None and not isinstance(answer, Content) and isinstance(answer, type)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if is_json(operation)])
def test_the_example_of_a_response_is_of_its_type(name: str):
    operation = OPERATIONS[name]
    example = operation.response_example
    assert example, "the operation has an example"
    found = msgspec.convert(example, operation.answers[operation.status])
    assert msgspec.to_builtins(found) == msgspec.to_builtins(example), "no field is unknown, and none is left out"
