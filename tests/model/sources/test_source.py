"""Public ids of sources."""

import msgspec

from longline.model.sources.source import SourceRow


def test_the_public_id_of_a_remote_source_is_its_id_at_the_source_manager():
    row = SourceRow(100_000, "a", "https://a.example/", "{}", True, 1, 1)
    assert row.public_id == "100000"
    assert msgspec.structs.replace(row, ref="x-1").public_id == "x-1"
