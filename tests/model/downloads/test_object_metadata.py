"""Attributes of the stored files of manifests: they name the origin, and fit into the 2 KB that S3 takes."""

import pytest

from longline.drivers.blobs.object_uploads import ascii_labels
from longline.model.downloads.object_metadata import object_labels

S3_LIMIT_BYTES = 2048
URL = "https://a.example/file"


def size(labels: dict[str, str]) -> int:
    """Return the number of bytes that S3 counts: of names and of values."""
    return sum(len(name) + len(value) for name, value in ascii_labels(labels).items())


def test_labels_name_the_origin_of_a_file():
    labels = {"job-id": "job", "resource-id": "größe", "source-url": URL}
    assert object_labels("job", "größe", URL) == labels


@pytest.mark.parametrize("character", ["k", "é", "語", "🎣"])
def test_labels_with_the_longest_ids_fit_into_a_store(character: str):
    uid, resource_id = 255 * character, 128 * character
    labels = object_labels(uid, resource_id, URL)
    assert size(labels) < S3_LIMIT_BYTES
    assert labels["resource-id"] == resource_id
    assert ("source-url" in labels) is (character == "k")
    other = object_labels(uid[:-1] + "x", resource_id, URL)
    assert other["job-id"] != labels["job-id"], "a cut id ends with its digest"


def test_a_url_is_left_out_where_ids_and_url_are_long_together():
    whole, long = (object_labels("j" * 200, "r" * 100, f"https://a.example/{'u' * length}") for length in (600, 800))
    assert ("source-url" in whole, "source-url" in long) == (True, False)


def test_an_id_that_a_handler_made_is_cut_too():
    labels = object_labels("job", "r" * 5000, URL)
    assert size(labels) < S3_LIMIT_BYTES
    assert labels["resource-id"].startswith("r" * 1000)
