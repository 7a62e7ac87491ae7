"""The gate to the index, and the buckets of its metric."""

from longline.parsers.article.quality_gate import bucket, skip_reason


def test_the_gate_and_the_buckets():
    assert [skip_reason("x", words) for words in (0, 49, 50)] == ["quality_gate", "quality_gate", None]
    assert skip_reason("", 50) is None
    assert [bucket(words) for words in (0, 49, 50, 99, 199, 499, 999, 1999, 2000)] == [
        *("<50", "<50", "<100", "<100", "<200", "<500", "<1000", "<2000", ">=2000")
    ]
