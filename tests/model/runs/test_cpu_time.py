from longline.model.runs.cpu_time import shares_of_cpu_time


def test_shares_follow_the_numbers_of_tasks_and_add_up():
    assert shares_of_cpu_time(100, {1: 3, 2: 1}) == {1: 75, 2: 25}
    assert sum(shares_of_cpu_time(100, {1: 1, 2: 1, 3: 1}).values()) == 100
    assert shares_of_cpu_time(100, {}) == {}
