from longline.model.back_off import back_off


def test_the_wait_doubles_up_to_the_longest():
    assert [back_off(3, failures, 20) for failures in (-1, 0, 1, 2, 3, 10**9)] == [3, 3, 6, 12, 20, 20]
    assert back_off(0.5, 2, 60.0) == 2.0
    assert back_off(30, 0, 20) == 20
