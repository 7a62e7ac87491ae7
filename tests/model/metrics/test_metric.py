import pytest

from longline.model.metrics.metric import (
    DATABASE_SECONDS,
    FETCH_SECONDS,
    FETCHES,
    LEASES_LOST,
    counter_values,
    histogram_values,
    host_group,
    status_class,
)


@pytest.mark.parametrize(
    ("host", "group"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("www.example.com:8080", "example.com"),
        ("a.shop.example.com", "shop.example.com"),
        ("badexample.com", "other"),
        ("com", "other"),
    ],
)
def test_a_host_is_in_the_group_of_its_closest_domain(host: str, group: str):
    assert host_group(host, frozenset({"example.com", "shop.example.com"})) == group
    assert host_group(host, frozenset()) == "other"


def test_statuses_have_classes():
    assert [status_class(status) for status in (200, 304, 503, None, 0)] == ["2xx", "3xx", "5xx", "none", "none"]


def test_counters_are_read_back_by_their_labels():
    counters = {FETCHES.key("2xx", "ok", "other"): 3, LEASES_LOST.key(): 2, "pages.type.article": 9}
    assert counter_values(FETCHES, counters) == {("2xx", "ok", "other"): 3}
    assert counter_values(LEASES_LOST, counters) == {(): 2}
    assert counter_values(LEASES_LOST, {}) == {(): 0}, "a counter that was never increased is shown"


def test_histograms_are_read_back_as_cumulative_counts():
    counters = {FETCH_SECONDS.bucket_key(seconds): 1 for seconds in (0.005, 0.2, 99.0)} | {FETCH_SECONDS.key("sum"): 5}
    [(labels, found)] = histogram_values(FETCH_SECONDS, counters).items()
    assert labels == ()
    counts = dict(found.at_most)
    assert (counts["0.005"], counts["0.1"], counts["0.25"], counts["30.0"], counts["+Inf"]) == (1, 1, 2, 2, 3)
    assert found.sum_seconds == 0.000005
    assert set(histogram_values(DATABASE_SECONDS, {DATABASE_SECONDS.bucket_key(1, "read"): 1})) == {("read",)}
