"""The places for files of one worker: the number of files whose bytes come at once.

A small file leaves its place with its last byte and is stored beside the next ones: an object store that stores several
files together is not a reason to leave a connection idle.
"""

from collections.abc import Callable

from longline.engine.frontier.leased_hosts import LeasedHost

STORED_PER_PLACE = 4
"""Largest number of small files that are being stored without a place, as a multiple of the places."""

SMALL_FILE_BYTES = 128 * 1024
"""Size up to which a file leaves its place with its last byte: such a file waits in memory."""


class FilePlaces:
    """The count of a worker's files that hold a place, and of those that are stored without one."""

    def __init__(self, places: int, wake: Callable[[], None]) -> None:
        self._places, self._wake = places, wake
        self.taken, self.storing = 0, 0

    @property
    def free(self) -> int:
        """Return the number of files that may begin."""
        return self._places - self.taken

    def take(self, host: LeasedHost) -> "FilePlace":
        """Take a place for a file of a host."""
        self.taken += 1
        host.inflight += 1
        return FilePlace(self, host)

    def move(self, host: LeasedHost, step: int) -> None:
        """Move a file of a host from its place to the store, by a step of -1, or back, by 1."""
        self.taken += step
        self.storing -= step
        host.inflight += step
        host.storing -= step
        self._wake()

    @property
    def may_leave(self) -> bool:
        """Return whether one more file may be stored without a place."""
        return self.storing < STORED_PER_PLACE * self._places


class FilePlace:
    """The place of one file, at its host and in its worker."""

    __slots__ = ("_host", "_is_held", "_places")

    def __init__(self, places: FilePlaces, host: LeasedHost) -> None:
        self._places, self._host, self._is_held = places, host, True

    def leave(self, size: int) -> None:
        """Leave the place to the next file: the last byte has come, and a small file is stored without a place."""
        if self._is_held and size <= SMALL_FILE_BYTES and self._places.may_leave:
            self._is_held = False
            self._places.move(self._host, -1)

    def take_again(self) -> None:
        """Take the place for another request for the file, even if no place is free."""
        if not self._is_held:
            self._is_held = True
            self._places.move(self._host, 1)

    def end(self) -> None:
        """Count the file no longer."""
        self.take_again()
        self._places.taken -= 1
        self._host.inflight -= 1
