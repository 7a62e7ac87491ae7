from longline.model.duration import MINUTE_MS
from longline.model.token_bucket import TokenBucket, spend


def test_a_full_bucket_is_spent_at_once_and_refilled_one_by_one():
    granted, left, wait_ms = spend(None, 0, 3, 4)
    assert (granted, left, wait_ms) == (3, 0, 20_000)
    assert spend(left, 19_000, 3, 1) == TokenBucket(0, 57_000, 1000)
    assert spend(left, 20_000, 3, 2) == TokenBucket(1, 0, 20_000)


def test_a_bucket_holds_the_tokens_of_one_minute_at_most():
    assert spend(0, 3_600_000, 2, 3).granted == 2


def test_a_limit_that_was_lowered_holds_at_once():
    assert spend(100 * MINUTE_MS, 0, 2, 100).granted == 2


def test_a_clock_that_was_set_back_removes_no_tokens():
    assert spend(MINUTE_MS, -5000, 2, 1) == TokenBucket(1, 0, 30_000)


def test_a_limit_may_be_for_an_hour():
    hour = 60 * MINUTE_MS
    assert spend(None, 0, 1000, 1001, period_ms=hour) == TokenBucket(1000, 0, 3600)
    assert spend(0, 3599, 1000, 1, period_ms=hour).granted == 0
    assert spend(0, 3600, 1000, 1, period_ms=hour).granted == 1


def test_unused_tokens_are_returned_and_fill_the_bucket_at_most():
    assert spend(0, 0, 5, 5, returned=2).granted == 2
    assert spend(5 * MINUTE_MS, 0, 5, 9, returned=2).granted == 5
