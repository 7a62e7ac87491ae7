from longline.model.bots.rate_limit import MINUTE_MS, TokenBucket, spend


def test_so_many_times_a_minute_and_then_one_by_one():
    granted, left, wait_ms = spend(None, 0, 3, 4)
    assert (granted, left, wait_ms) == (3, 0, 20_000)
    assert spend(left, 19_000, 3, 1) == TokenBucket(0, 57_000, 1000)
    assert spend(left, 20_000, 3, 2) == TokenBucket(1, 0, 20_000)


def test_what_is_saved_up_is_one_minutes_worth():
    assert spend(0, 3_600_000, 2, 3).granted == 2


def test_a_limit_that_was_lowered_holds_at_once():
    assert spend(100 * MINUTE_MS, 0, 2, 100).granted == 2


def test_a_clock_that_was_set_back_takes_nothing_away():
    assert spend(MINUTE_MS, -5000, 2, 1) == TokenBucket(1, 0, 30_000)
