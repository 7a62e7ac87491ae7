"""Keys of objects that belong to a manifest are safe, whatever their clients call their files."""

import pytest

from longline.model.manifests.manifest import DOCUMENT_FILE, manifest_key, safe_segment


@pytest.mark.parametrize(
    ("text", "segment"),
    [("a-b_c.jpg", "a-b_c.jpg"), ("a/b", "a%2Fb"), (".", "%2E"), ("..", "%2E%2E"), ("é", "%C3%A9"), ("a b", "a%20b")],
)
def test_a_text_of_a_client_is_one_segment(text: str, segment: str):
    assert safe_segment(text) == segment


def test_objects_of_a_manifest_lie_side_by_side():
    assert manifest_key("gallery", "1") == "manifests/gallery/1/metadata.json"
    assert manifest_key("a/b", "1", DOCUMENT_FILE) == "manifests/a%2Fb/1/manifest.json"
