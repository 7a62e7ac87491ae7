"""Names and identities of documents in the index of their source."""

import hashlib
import json

import pytest

from longline.model.search.document import document_id, index_of, index_prefix, raw_content
from tests.drivers.search.test_opensearch import document


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("CBC News", "cbc_news"),
        ("www.example.com", "www_example_com"),
        ("__A--b__c__", "a_b_c"),
        ("Ünïcode", "n_code"),
        ("!!!", "unknown"),
        ("", "unknown"),
    ],
)
def test_an_index_is_named_after_its_source(name: str, prefix: str):
    assert index_prefix(name) == prefix


def test_without_a_source_the_host_gives_the_name():
    assert index_of(document(1)) == "a_example_raw_content"
    assert index_of(document(1, source_name="S", url="https://b.example/")) == "s_raw_content"
    assert index_of(document(1, url="no url")) == "unknown_raw_content"


def test_the_same_page_is_the_same_document():
    assert document_id(document(1)) == hashlib.sha256(b"https://a.example/1").hexdigest()
    assert document_id(document(1, url="https://a.example/1", source_name="S")) == document_id(document(1))


def test_missing_fields_are_left_out_and_never_invented():
    stored = raw_content(document(1, "T", "", fields='{"og_image": "", "meta": 3, "json_ld_data": null}'))
    always = ("meta_description", "og_type", "og_title", "og_description", "published_date")
    assert [stored[name] for name in always] == ["", "", "", "", None]
    assert set(stored) == {
        *always,
        *("id", "url", "source_name", "title", "raw_text", "classification_status", "crawled_at", "word_count", "meta"),
    }
    assert set(stored["meta"]) == {"created_at", "updated_at"}
    assert stored["crawled_at"] == "2023-11-14T22:13:20.001Z"


def test_a_term_that_is_too_long_for_the_index_is_left_out_alone():
    fields = {
        "og_image": "data:" + "x" * 40_000,
        "author": "Ann",
        "meta": {"twitter_site": "y" * 9000, "page_type": "other"},
    }
    stored = raw_content(document(1, "T", "", fields=json.dumps(fields)))
    assert ("og_image" in stored, stored["author"], stored["meta"]["page_type"]) == (False, "Ann", "other")
    assert "twitter_site" not in stored["meta"]
    many = {"json_ld_data": {"jsonld_keywords": ["word"] * 5000}}
    stored = raw_content(document(1, "T", "", fields=json.dumps(many)))
    assert stored["json_ld_data"] == many["json_ld_data"], "many terms are not one long one"
