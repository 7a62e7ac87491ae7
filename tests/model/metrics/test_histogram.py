from longline.model.metrics.histogram import SECONDS, SUM, bucket_of, histogram_of


def test_a_value_belongs_to_the_first_bucket_that_is_not_below_it():
    assert [bucket_of(value) for value in (0.0, 0.005, 0.006, 30.0, 31.0)] == ["0", "0", "1", "11", "12"]
    assert list(SECONDS) == sorted(SECONDS)


def test_the_counts_of_buckets_add_up():
    found = histogram_of({"0": 2, "1": 3, "12": 1, SUM: 2_500_000})
    assert (found.at_most[0], found.at_most[1], found.at_most[-1]) == (("0.005", 2), ("0.01", 5), ("+Inf", 6))
    assert found.sum_seconds == 2.5
