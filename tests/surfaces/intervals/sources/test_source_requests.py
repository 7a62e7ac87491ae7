"""Requests of sources become rows, or change them."""

import msgspec
import pytest

from longline.model.errors import BadInput
from longline.model.sources.source import SourceRow
from longline.surfaces.intervals.sources.source_requests import SourceChanges, SourceRequest
from longline.surfaces.request_reader import RequestReader

ROW = SourceRow(
    id=100001,
    name="news",
    base_url="https://news.example/",
    config="{}",
    enabled=False,
    disabled_at=1000,
    disable_reason="broken",
    budget=5,
    admitted=3,
    created_at=0,
    updated_at=0,
)
CHANGES = RequestReader(SourceChanges)


def test_a_request_becomes_a_new_source():
    sent = b'{"name": "news", "url": "https://news.example/", "max_depth": 2, "identity_key": ""}'
    source = RequestReader(SourceRequest).body(sent).source()
    assert (source.name, source.base_url, source.enabled) == ("news", "https://news.example/", True)
    assert (msgspec.json.decode(source.crawl)["max_depth"], source.identity_key) == (2, None)


def test_absent_and_empty_fields_keep_their_values():
    assert CHANGES.body(b'{"name": "", "url": "", "budget": 5}').amend(ROW) == ROW


def test_a_switch_removes_the_reason_of_the_last_one():
    after = CHANGES.body(b'{"enabled": true}').amend(ROW)
    assert (after.enabled, after.disabled_at, after.disable_reason) == (True, None, None)


def test_a_budget_has_an_operation_of_its_own():
    with pytest.raises(BadInput, match="PUT /api/v1/sources/"):
        CHANGES.body(b'{"budget": 6}').amend(ROW)
