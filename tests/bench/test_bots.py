from pathlib import Path

from bench.bots import ON_POSTGRES, ON_SQLITE, Measured, bars, echo, ours


def test_every_contestant_does_every_job(tmp_path: Path):
    for measured in (echo(30), ours("ours", f"sqlite:///{tmp_path / 'b.db'}", 30)):
        assert measured.rate > 0
        assert measured.cpu is not None


def test_measured_rates_are_compared_with_the_required_ones():
    rates = {ON_POSTGRES: 3000.0, ON_SQLITE: 900.0, "Procrastinate": 300.0, "Celery, Valkey": 500.0, "claim": 7.0}
    measured = [Measured(name, rate) for name, rate in rates.items()]
    missed = [name for name, found, least in bars(measured) if found < least]
    assert missed == [f"{ON_SQLITE} / Procrastinate", f"{ON_SQLITE} / Celery, Valkey", "claim"]
