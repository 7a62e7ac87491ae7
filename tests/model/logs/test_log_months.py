import pytest

from longline.model.logs.log_months import DAY_US, following_month, month_name, month_of, months_between, start_us
from longline.model.object_keys import log_month_key


@pytest.mark.parametrize("month", [197001, 202402, 202612, 202701, 210011])
def test_a_month_begins_with_its_first_microsecond(month: int):
    assert month_of(start_us(month)) == month
    assert month_of(start_us(month) + DAY_US * 27) == month
    assert month_of(start_us(following_month(month)) - 1) == month
    assert month_of(start_us(following_month(month))) == following_month(month)


@pytest.mark.parametrize(
    ("month", "count", "then"),
    [(202611, 1, 202612), (202612, 1, 202701), (202611, 6, 202705), (202601, -1, 202512), (202607, -18, 202501)],
)
def test_months_go_on_over_years(month: int, count: int, then: int):
    assert following_month(month, count) == then
    assert following_month(then, -count) == month


def test_months_between_two_times():
    first, last = start_us(202611) + 5, start_us(202702)
    assert list(months_between(first, last)) == [202611, 202612, 202701, 202702]
    assert list(months_between(first, first)) == [202611]
    assert list(months_between(last, first)) == []


def test_a_month_gives_the_names_of_its_partition_and_objects():
    assert month_name(202604) == "log_2026_04"
    assert log_month_key(202604, 7) == "logs/months/log_2026_04/000007.jsonl.gz"
