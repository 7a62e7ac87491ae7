"""A cached property that holds no lock.

`functools.cached_property` of Python 3.11 holds one lock for all instances of a class while it computes a value, so a
thread that builds the tree of one page stops every other page. Python 3.12 took the lock out.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
Self = TypeVar("Self")


class cached_property(Generic[T]):  # noqa: N801 - a decorator, named as that of the standard library
    """A property that is computed at its first use and kept in the instance; threads may compute it twice."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self: Self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
