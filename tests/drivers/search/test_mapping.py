"""Mappings: strict at every depth, with the fields that the contract names."""

from collections.abc import Iterator
from typing import Any

import pytest

from longline.drivers.search.mapping import ITEMS, RAW_CONTENT


def objects(mapping: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield mapping
    for kind in mapping["properties"].values():
        if "properties" in kind:
            yield from objects(kind)


@pytest.mark.parametrize("mapping", [ITEMS, RAW_CONTENT])
def test_an_unknown_field_is_refused_at_every_depth(mapping: dict[str, Any]):
    assert all(each["dynamic"] == "strict" for each in objects(mapping["mappings"]))


def test_raw_content_has_the_contracts_fields():
    fields = RAW_CONTENT["mappings"]["properties"]
    named = "id url source_name title raw_text raw_html meta_description meta_keywords og_type og_title og_description"
    named += " og_image author canonical_url article_section published_date json_ld_data classification_status"
    assert set(fields) == set(named.split()) | {"crawled_at", "word_count", "meta"}
    assert fields["raw_html"] == {"type": "text", "index": False}
    assert fields["published_date"]["format"] == "strict_date_optional_time||epoch_millis"
    linked = fields["json_ld_data"]["properties"]
    assert linked["jsonld_raw"] == {"type": "object", "enabled": False}
    assert linked["jsonld_publisher_name"] == {"type": "keyword"}
