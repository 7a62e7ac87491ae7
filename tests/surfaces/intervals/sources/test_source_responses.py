"""Rows of sources in the format of the contract."""

import msgspec

from longline.model.sources.source import SourceRow
from longline.surfaces.intervals.sources.source_responses import source_body

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


def test_a_source_is_shown_without_passwords():
    secret = msgspec.structs.replace(ROW, base_url="https://anna:secret@news.example/", budget=None)
    shown = source_body(secret)
    assert (shown.id, shown.url, shown.admitted) == ("100001", "https://news.example/", None)
    assert source_body(ROW).admitted == 3
