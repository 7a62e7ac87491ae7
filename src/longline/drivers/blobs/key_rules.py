"""Rules for object keys, the same for every engine, so that a key that works on one works on all."""

import re
from collections.abc import Sequence

from longline.model.errors import BadInput

STAGING = ".staging"
"""Folder in which the folder engine writes objects before they get their name; no key may begin with it."""

_MAX_KEY_BYTES = 1024  # S3's limit
_MAX_SEGMENT_BYTES = 255  # file systems' limit
# Control characters cannot be listed by S3 (XML), and some S3 servers turn a backslash into a slash.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f\\]")


_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


def checked_key(key: str) -> str:
    """Return the key; raise `BadInput` when the key could leave the store or differ in meaning between engines."""
    segments = key.split("/")
    if any(segment in ("", ".", "..") for segment in segments):
        raise BadInput(f"object key {key!r} has an empty, '.' or '..' segment")
    if segments[0] == STAGING:
        raise BadInput(f"object key {key!r} begins with {STAGING!r}, which is reserved")
    if _FORBIDDEN.search(key):
        raise BadInput(f"object key {key!r} has a control character or a backslash")
    _check_size(key, segments)
    return key


def checked_bucket(name: str) -> str:
    """Return the name of a bucket; raise `BadInput` for a name that S3 would not take."""
    if not _BUCKET.fullmatch(name) or ".." in name:
        raise BadInput(f"not a name of a bucket: {name!r}; it has 3 to 63 lower-case letters, digits, dots and hyphens")
    return name


def checked_prefix(prefix: str) -> str:
    """Return the prefix without its trailing slash; prefixes end at a slash: 'a' holds 'a/b' and not 'ab'."""
    return checked_key(prefix.removesuffix("/")) if prefix else prefix


def as_chunks(data: bytes | Sequence[bytes]) -> Sequence[bytes]:
    """Return data as chunks."""
    return (data,) if isinstance(data, bytes) else data


def check_range(key: str, offset: int, length: int) -> None:
    """Reject a range with a negative offset or length."""
    if offset < 0 or length < 0:
        raise BadInput(f"object {key!r} has no range of {length} bytes from {offset}")


def _check_size(key: str, segments: list[str]) -> None:
    try:
        size, longest = len(key.encode()), max(len(segment.encode()) for segment in segments)
    except UnicodeEncodeError:
        raise BadInput(f"object key {key!r} is not valid Unicode") from None
    if size > _MAX_KEY_BYTES or longest > _MAX_SEGMENT_BYTES:
        raise BadInput(
            f"object key of {size} bytes is too long: at most {_MAX_KEY_BYTES}, and {_MAX_SEGMENT_BYTES} in one segment"
        )
