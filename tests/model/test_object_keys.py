"""Keys of objects are safe, distinct, and in the places of the contracts."""

from urllib.parse import unquote

import pytest

from longline.model.object_keys import DOCUMENT_FILE, html_copy_key, manifest_key, page_object_key, safe_segment


@pytest.mark.parametrize(
    ("text", "segment"),
    [("a-b_c.jpg", "a-b_c.jpg"), ("a/b", "a%2Fb"), (".", "%2E"), ("..", "%2E%2E"), ("é", "%C3%A9"), ("a b", "a%20b")],
)
def test_a_text_of_a_client_is_one_segment(text: str, segment: str):
    assert safe_segment(text) == segment


@pytest.mark.parametrize("text", ["é" * 128, "😀" * 128, "/" * 127 + "a", "aa" + "é" * 126])
def test_the_segment_of_a_long_text_fits_a_file_system_and_stays_its_own(text: str):
    segment = safe_segment(text)
    assert len(segment) <= 255
    assert unquote(segment.partition("=")[0], errors="strict").startswith(text[:10])
    assert segment != safe_segment(text[:-1] + "b")
    assert "=" not in safe_segment("a=b"), "no shorter text has the mark of a cut one"


def test_objects_of_a_manifest_lie_side_by_side():
    assert manifest_key("gallery", "1") == "manifests/gallery/1/metadata.json"
    assert manifest_key("a/b", "1", DOCUMENT_FILE) == "manifests/a%2Fb/1/manifest.json"


def test_a_plain_url_is_its_key():
    assert page_object_key("series/1", "https://cdn.example/7/001.jpg") == "series/1/cdn.example/7/001.jpg"


def test_urls_that_look_alike_have_distinct_keys():
    urls = [
        *("https://a.example/p?n=1", "https://a.example/p?n=2", "https://a.example/p", "https://a.example/p%20"),
        *("https://a.example/p_", f"https://a.example/{'x' * 900}", f"https://a.example/{'x' * 901}"),
        *("https://a.example//p", "https://a.example/", "https://a.example/_/p"),
    ]
    keys = [page_object_key("series/1", url) for url in urls]
    assert len(set(keys)) == len(urls)
    assert all(".." not in key and "//" not in key and len(key) < 500 for key in keys)


AT = 1_700_000_000_000


@pytest.mark.parametrize(
    ("source", "folder"),
    [("News", "news"), ("a.b/c  d", "a_b_c_d"), ('__x?*<>:"|\\y\x01__', "x_y"), ("", "unknown"), ("..", "unknown")],
)
def test_a_source_is_part_of_a_key_in_one_form(source: str, folder: str) -> None:
    assert html_copy_key(source, AT, "https://a.example/").split("/")[1] == folder
