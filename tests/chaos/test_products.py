"""A small shop behind proxies that die, and strict rotation over two workers; the large form is a program."""

from pathlib import Path

from tests.chaos import products


def test_a_shop_behind_dying_proxies(tmp_path: Path):
    report = products.run(tmp_path, pages=60)
    assert report.figures["products"] == 60
    assert report.figures["requests of the second parse"] == 0
    assert (report.figures["changed products"], report.figures["rows that stayed the same"]) == (6, 54)


def test_two_workers_rotate_strictly(tmp_path: Path):
    order = products.rotate(tmp_path / "rotation", 40)
    assert len(order) >= 40
    assert products.is_strict(order), order
