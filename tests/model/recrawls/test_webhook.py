import pytest

from longline.model.recrawls.webhook import TryResult, retry_ms, state_after


@pytest.mark.parametrize(
    ("made", "tries", "state"),
    [
        (TryResult(1, 200), 1, "delivered"),
        (TryResult(1, 299), 3, "delivered"),
        (TryResult(1, 300), 1, "waiting"),
        (TryResult(1, 199), 2, "waiting"),
        (TryResult(1, 500), 3, "failed"),
        (TryResult(1, None, "connect"), 2, "waiting"),
        (TryResult(1, None, "egress", is_refused=True), 1, "refused"),
    ],
)
def test_the_state_follows_the_result_and_the_number_of_tries(made: TryResult, tries: int, state: str):
    assert state_after(made, tries) == state


def test_the_delay_grows_with_every_attempt():
    assert [retry_ms(10_000, tries) for tries in (1, 2)] == [10_000, 60_000]
