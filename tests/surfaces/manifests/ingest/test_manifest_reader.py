"""The reader of manifests names the first wrong field, in the order of the text."""

import json
from typing import Any

import pytest

from longline.surfaces.manifests.ingest.manifest_reader import ManifestReader
from longline.surfaces.operation import ApiFailure

READER = ManifestReader(3)


def manifest(**more: Any) -> dict[str, Any]:
    return {"manifest_version": "v1", "metadata": {}, "resources": [{"id": "a", "url": "https://a.example/"}]} | more


def message(body: Any, reader: ManifestReader = READER) -> str:
    with pytest.raises(ApiFailure) as caught:
        reader.read(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert caught.value.error.status == 400
    told: dict[str, str] = dict(caught.value.error.body["error"])
    assert told["code"] == "INVALID_PAYLOAD"
    return told["message"]


def resource(**more: Any) -> dict[str, Any]:
    return {"id": "a", "url": "https://a.example/"} | more


@pytest.mark.parametrize(
    ("body", "begins"),
    [
        (b"{", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b'{"metadata": {"a": "\xff"}}', "the body is not JSON"),
        (b"[" * 100_000, "the body "),
        ([], "the body must be an object"),
        ({"metadata": {}, "resources": []}, "manifest_version is required"),
        (manifest(manifest_version="v2"), "manifest_version must be"),
        (manifest(manifest_version=1), "manifest_version must be"),
        (manifest(metadata=[]), "metadata must be an object"),
        (manifest(metadata=None), "metadata must be an object"),
        (manifest(attributes=[]), "attributes must be an object"),
        (manifest(resources=[]), "resources must have at least 1"),
        (manifest(resources={}), "resources must be an array"),
        (manifest(resources=[1]), "resources[0] must be an object"),
        (manifest(resources=[{"url": "https://a.example/"}]), "resources[0].id is required"),
        (manifest(resources=[{"id": "a"}]), "resources[0].url is required"),
        (manifest(resources=[resource(), resource(id=3)]), "resources[1].id must be a string"),
        (manifest(resources=[resource(), resource()]), "resources[1].id must be unique"),
        (manifest(resources=[resource(id="")]), "resources[0].id must have 1 to 128"),
        (manifest(resources=[resource(id="x" * 129)]), "resources[0].id must have 1 to 128"),
        (manifest(resources=[resource(url="")]), "resources[0].url must not be empty"),
        (manifest(resources=[resource(url="https://bob:pw@a.example/")]), "resources[0].url must not contain a user"),
        (manifest(resources=[resource(url="https://bob:p w@a.example/")]), "resources[0].url must not contain a user"),
        (manifest(resources=[resource(url=None)]), "resources[0].url must be a string"),
        (manifest(resources=[resource(headers=[])]), "resources[0].headers must be an object"),
        (manifest(resources=[resource(headers={"A b": "c"})]), "resources[0].headers.A b is not a valid"),
        (manifest(resources=[resource(headers={"A": "b\r\nc"})]), "resources[0].headers.A must not contain line"),
        (manifest(resources=[resource(headers={"A": 1})]), "resources[0].headers.A must be a string"),
        (manifest(resources=[resource(headers={"A": "é" * 513})]), "resources[0].headers.A must have at most 1024"),
        (manifest(resources=[resource(headers={f"h{n}": "" for n in range(11)})]), "resources[0].headers must have at"),
        (manifest(resources=[resource(tags={"a": None})]), "resources[0].tags.a must be a string"),
        (manifest(resources=[resource(id=str(n)) for n in range(4)]), "resources must have at most 3 entries"),
        # The first wrong field in the order of the text.
        (manifest(resources=[resource(headers={"A": 1}), resource(id=3)]), "resources[0].headers.A"),
    ],
)
def test_the_first_wrong_field_is_named(body: Any, begins: str):
    assert message(body).startswith(begins)


def test_metadata_stays_the_bytes_that_were_sent():
    metadata = b'{ "b": 12345678901234567890123456789,  "a": 1.50,"\xc3\xa9":"\\u00e9", "e": 1e999 }'
    head = b'{"unknown": 1, "manifest_version":"v1","metadata" : '
    body = head + metadata + b', "resources":[{"id":"a","url":"x"}]}'
    read = READER.read(body)
    assert read.metadata == metadata
    assert read.attributes == b"{}"


def test_an_at_sign_of_a_path_is_no_password():
    body = manifest(resources=[resource(url="https://a.example/@bob:x/a@b?c=d@e")])
    assert READER.read(json.dumps(body).encode()).resources[0].url == "https://a.example/@bob:x/a@b?c=d@e"


def test_limits_are_inclusive_and_null_is_no_value():
    given = resource(id="x" * 128, headers={f"h{n}": "é" * 512 for n in range(10)}, tags=None)
    read = READER.read(json.dumps(manifest(resources=[given], attributes=None)).encode())
    assert len(read.resources[0].headers) == 10
    assert read.resources[0].tags == {}


def test_other_schemes_are_refused_where_urls_are_strict():
    body = manifest(resources=[resource(url="ftp://a.example/")])
    assert READER.read(json.dumps(body).encode()).resources[0].url == "ftp://a.example/"
    assert message(body, ManifestReader(3, strict_urls=True)).startswith("resources[0].url must be an http")
