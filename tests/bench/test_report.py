import json
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from bench.lap import Lap
from bench.race import Race
from bench.report import compared, keep, lines, show


def lap(name: str, rate: float, cpu: float = 1.0, faults: tuple[str, ...] = ()) -> Lap:
    return Lap(
        name=name,
        pages=1000,
        seconds=1000 / rate,
        cpu=cpu,
        database_cpu=0.0,
        server_cpu=0.1,
        peak_bytes=100 << 20,
        faults=list(faults),
    )


@pytest.fixture
def race() -> Race:
    """Three rounds; in the second the machine had other load, and in the third Scrapy failed."""
    made = Race("some pages", "nginx", 20_000.0, 64, fell={"crawlee-file": "out of luck"})
    made.rounds = [
        {"ours": lap("ours", 900), "scrapy": lap("scrapy", 100, 8.0), "bare": lap("bare", 1800, 0.5)},
        {"ours": lap("ours", 440), "scrapy": lap("scrapy", 40, 8.0), "bare": lap("bare", 1000, 0.5)},
        {"ours": lap("ours", 1000, 1.2, ("2 pages not fetched",)), "bare": lap("bare", 1900, 0.5)},
    ]
    return made


def test_ratios_are_medians_of_the_ratios_within_each_round(race: Race):
    ours, scrapy, bare = lines(race)
    assert [ours.name, scrapy.name, bare.name] == ["ours", "scrapy", "bare"]
    assert ours.rate == pytest.approx(900)
    assert ours.to_rival == pytest.approx((9 + 11) / 2)
    assert ours.cpu_to_rival == pytest.approx(1 / 8)
    assert ours.to_ceiling == pytest.approx(0.5)
    assert scrapy.to_rival == 1.0
    assert ours.faults == ["2 pages not fetched"]


def test_goals_are_put_as_pairs(race: Race):
    assert compared(race) == [
        "Longline, SQLite : Scrapy, JOBDIR, bodies = 10.00 in pages/s, 0.12 in CPU a page",
        "Longline, SQLite : bare loop = 0.50 in pages/s, 2.00 in CPU a page",
    ]


def test_without_rivals_there_is_no_ratio(race: Race):
    for laps in race.rounds:
        laps.pop("scrapy", None)
    assert [line.to_rival for line in lines(race)] == [None, None]


def test_the_report_shows_figures_failures_and_faults(race: Race):
    written = StringIO()
    show(race, Console(file=written, width=120))
    said = written.getvalue()
    for part in ("Scrapy, JOBDIR", "10.0", "50%", "out of luck", "2 pages not fetched", "20,000"):
        assert part in said


def test_the_report_is_stored_as_json_text_and_chart(race: Race, tmp_path: Path):
    kept = {path.suffix: path.read_text() for path in keep(race, tmp_path)}
    assert json.loads(kept[".json"])["rounds"][1]["scrapy"]["seconds"] == pytest.approx(25)
    assert "Longline" in kept[".txt"]
    bars = ElementTree.fromstring(kept[".svg"]).findall("{http://www.w3.org/2000/svg}rect")
    widths = [float(bar.attrib["width"]) for bar in bars[1:]]
    assert widths[0] / widths[2] == pytest.approx(900 / 1800, rel=0.01)
