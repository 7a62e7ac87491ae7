"""The reader of manifests: checks the JSON of a body in the order of its text, and names the first wrong field."""

import re
from typing import Any

import msgspec

from longline.model.downloads.request_headers import MAX_HEADER_BYTES, MAX_HEADERS
from longline.model.fetch.credentials import header_problem
from longline.model.manifests.manifest import ManifestResource
from longline.model.urls.url_credentials import without_credentials
from longline.surfaces.manifests.errors import invalid
from longline.surfaces.operation import ApiFailure

MANIFEST_VERSION = "v1"
MAX_ID_CHARS = 128

_AT = " - at `$"
_MISSING = re.compile(r"Object missing required field `(\w+)`\Z")
_TYPE = re.compile(r"Expected `([^`]+)`(?:, got `[^`]+`)?\Z")
_WHOLE, _ENTRY = "\x1e", "\x1f"
"""Marks of a text that names its field itself, and of the name of an entry before a text."""

_NOUNS = {"str": "a string", "object": "an object", "array": "an array"}


class ResourceId(str):
    """The id of a resource, unique inside its manifest."""

    __slots__ = ()


class ResourceUrl(str):
    """The URL of a resource; the scheme is checked when it is downloaded, unless URLs are strict."""

    __slots__ = ()


class HeaderMap(dict[str, str]):
    """Headers of the request for a resource."""

    __slots__ = ()


class TagMap(dict[str, str]):
    """Tags of a resource."""

    __slots__ = ()


class _Resource(msgspec.Struct):
    """A resource as sent."""

    id: ResourceId
    url: ResourceUrl
    headers: HeaderMap | None = None
    tags: TagMap | None = None


class _Version(str):
    """The version of a manifest."""

    __slots__ = ()


class _Manifest(msgspec.Struct):
    """A manifest as sent; metadata and attributes stay the bytes that they were."""

    manifest_version: _Version
    metadata: msgspec.Raw
    resources: list[_Resource]
    attributes: msgspec.Raw = msgspec.Raw(b"{}")


class ReadManifest(msgspec.Struct, frozen=True):
    """The parts of a valid body."""

    resources: tuple[ManifestResource, ...]
    metadata: bytes
    attributes: bytes


class ManifestReader:
    """A reader with the limits of the operator."""

    def __init__(self, max_resources: int, *, strict_urls: bool = False) -> None:
        self._max_resources, self._strict_urls = max_resources, strict_urls

    def read(self, body: bytes) -> ReadManifest:
        """Return the parts of a manifest; raise `ApiFailure` with the path of its first wrong field."""
        checks = _FieldChecks(self._max_resources, strict_urls=self._strict_urls)
        try:
            body.decode()
            found = msgspec.json.decode(body, type=_Manifest, dec_hook=checks.check)
        except msgspec.ValidationError as error:
            raise ApiFailure(invalid(problem_text(str(error)))) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ApiFailure(invalid(f"the body is not JSON: {error}")) from error
        return _checked(found)


def _checked(found: _Manifest) -> ReadManifest:
    metadata, attributes = bytes(found.metadata), bytes(found.attributes)
    if not metadata.startswith(b"{"):
        raise ApiFailure(invalid("metadata must be an object"))
    if attributes == b"null":
        attributes = b"{}"
    if not attributes.startswith(b"{"):
        raise ApiFailure(invalid("attributes must be an object"))
    if not found.resources:
        raise ApiFailure(invalid("resources must have at least 1 entry"))
    resources = tuple(
        ManifestResource(str(one.id), str(one.url), dict(one.headers or {}), dict(one.tags or {}))
        for one in found.resources
    )
    return ReadManifest(resources, metadata, attributes)


class _FieldChecks:
    """The checks of one body's fields, called in the order of its text."""

    def __init__(self, max_resources: int, *, strict_urls: bool) -> None:
        self._max_resources, self._strict_urls = max_resources, strict_urls
        self._ids: set[str] = set()

    def check(self, kind: type, value: Any) -> Any:
        """Return a value as its type; raise `ValueError` with a text about the field, to which its path is added."""
        if kind is ResourceId:
            return self._id(_text(value))
        if kind is ResourceUrl:
            return self._url(_text(value))
        if kind is _Version:
            if value != MANIFEST_VERSION:
                raise ValueError(f'must be "{MANIFEST_VERSION}"')
            return _Version(value)
        return HeaderMap(_headers(value)) if kind is HeaderMap else TagMap(_texts(value))

    def _id(self, text: str) -> ResourceId:
        if not 1 <= len(text) <= MAX_ID_CHARS:
            raise ValueError(f"must have 1 to {MAX_ID_CHARS} characters")
        if "\0" in text:
            raise ValueError("must not contain a NUL character")
        if text in self._ids:
            raise ValueError("must be unique in the manifest")
        self._ids.add(text)
        if len(self._ids) > self._max_resources:
            raise ValueError(f"{_WHOLE}resources must have at most {self._max_resources} entries")
        return ResourceId(text)

    def _url(self, text: str) -> ResourceUrl:
        if not text:
            raise ValueError("must not be empty")
        if "\0" in text:
            raise ValueError("must not contain a NUL character")
        if "@" in text and without_credentials(text) != text:
            raise ValueError("must not contain a user name or a password: send them in the header Authorization")
        if self._strict_urls and not text.lower().startswith(("http://", "https://")):
            raise ValueError("must be an http or https URL")
        return ResourceUrl(text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError("must be an object")
    for name, text in value.items():
        if not isinstance(text, str):
            raise ValueError(_of(name, "must be a string"))
        if "\0" in text or "\0" in name:
            raise ValueError(_of(name, "must not contain a NUL character"))
    return value


def _of(name: str, text: str) -> str:
    return f"{name}{_ENTRY}{text}"


def _headers(value: Any) -> dict[str, str]:
    headers = _texts(value)
    if len(headers) > MAX_HEADERS:
        raise ValueError(f"must have at most {MAX_HEADERS} entries")
    for name, text in headers.items():
        if problem := header_problem(name, text):
            raise ValueError(_of(name, problem))
        if len(text.encode()) > MAX_HEADER_BYTES:
            raise ValueError(_of(name, f"must have at most {MAX_HEADER_BYTES} bytes"))
    return headers


def problem_text(error: str) -> str:
    """Return the decoder's text about a field in the form `path: problem`, the path as in `resources[3].id`."""
    text, place, path = error.rpartition(_AT)
    text, path = (text, path.removesuffix("`").removeprefix(".")) if place else (error, "")
    if missing := _MISSING.match(text):
        path, text = f"{path}.{missing[1]}".lstrip("."), "is required"
    elif wrong := _TYPE.match(text):
        text = f"must be {_NOUNS.get(wrong[1].partition(' |')[0], wrong[1])}"
    elif text.startswith(_WHOLE):
        return text.removeprefix(_WHOLE)
    elif _ENTRY in text:
        name, _, text = text.partition(_ENTRY)
        path = f"{path}.{name}"
    return f"{path or 'the body'} {text}"
