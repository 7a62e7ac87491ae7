import pytest

from longline.model.errors import BadInput
from longline.model.proxies.sizing import proxies_needed


@pytest.mark.parametrize(
    ("urls", "each", "buffer", "needed"),
    [(100, 20, 0, 5), (100, 20, 20, 6), (101, 20, 0, 6), (0, 20, 20, 0), (10_000, 20, 30, 650), (1, 1000, 0, 1)],
)
def test_the_number_is_rounded_up_after_the_buffer(urls: int, each: int, buffer: int, needed: int):
    assert proxies_needed(urls, each, buffer) == needed


@pytest.mark.parametrize("asked", [(-1, 1, 0), (1, 0, 0), (1, 1, -1)])
def test_an_impossible_rate_is_refused(asked: tuple[int, int, int]):
    with pytest.raises(BadInput):
        proxies_needed(*asked)
