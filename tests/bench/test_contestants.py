import json

import pytest

from bench.contestants import CONTESTANTS, chosen
from bench.crawlers.order import Order


def names(text: str) -> list[str]:
    return [contestant.name for contestant in chosen(text)]


def test_a_name_may_mean_several():
    assert names("scrapy,ours") == ["ours", "scrapy"]
    assert names("crawlee") == ["crawlee-file", "crawlee-memory"]
    assert names("postgres") == ["postgres"]


def test_the_error_of_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SystemExit, match=r"no contestant 'scrappy'.*crawlee-file"):
        chosen("ours,scrappy")


def test_an_order_reaches_its_program():
    order = Order(["http://127.0.0.1:1/"], ["127.0.0.1:1"], "there", 3, workers=2)
    command = CONTESTANTS[0].command(order)
    assert command[1:3] == ["-m", "bench.crawlers.ours"]
    assert Order(**json.loads(command[3])) == order
