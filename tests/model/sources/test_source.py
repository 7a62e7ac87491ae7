"""What sources are called."""

import msgspec

from longline.model.sources.source import SourceRow


def test_a_source_is_called_by_the_id_that_its_curator_gave_it():
    row = SourceRow(100_000, "a", "https://a.example/", "{}", True, 1, 1)
    assert row.public_id == "100000"
    assert msgspec.structs.replace(row, ref="x-1").public_id == "x-1"
