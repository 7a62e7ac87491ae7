"""A small shop behind proxies that die, and strict rotation over two workers; the large form is a program."""

from pathlib import Path

import pytest

from tests.chaos import products
from tests.journeys.place import Place
from tests.servers import PostgresServer


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_shop_behind_dying_proxies(engine: str, tmp_path: Path, request: pytest.FixtureRequest):
    if engine == "sqlite":
        report = products.run(Place(tmp_path / "shop" / "data"), pages=60)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        with server.fresh_database() as url:
            report = products.run(Place(tmp_path / "shop" / "data", {"database": url}), pages=60)
    assert report.figures["products"] == 60
    assert report.figures["requests of the second parse"] == 0
    assert report.figures["changed products"] == 6
    assert report.figures["rows that stayed the same, byte for byte"] == 54


def test_two_workers_rotate_strictly(tmp_path: Path):
    order = products.rotate(Place(tmp_path / "rotation" / "data"), 40)
    assert len(order) >= 40
    assert products.is_strict(order), order
