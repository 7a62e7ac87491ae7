"""Schedules for bots."""

from longline.model.bots.bot_policy import back_off_ms


def test_a_schedule_waits_longer_each_time_up_to_the_fourth():
    assert [back_off_ms(5, failures) for failures in range(1, 7)] == [5, 10, 20, 40, 40, 40]
