"""The result of a race: medians, ratios, a table, and files."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bench.chart import drawn
from bench.contestants import CONTESTANTS
from bench.lap import Lap
from bench.race import Race

RESULTS = Path(__file__).with_name("results")
RIVAL, CEILING = "scrapy", "bare"
"""The contestants that all others are compared with in the table."""

PAIRS = (
    *(("ours", other) for other in ("scrapy", "crawlee-file", "crawlee-memory", "bare")),
    ("postgres", "postgres-1"),
)
"""The pairs that are compared below the table."""


@dataclass(frozen=True)
class Line:
    """A contestant's medians, and the medians of its ratios to those of the same rounds."""

    name: str
    label: str
    rate: float
    cpu: float
    peak: float
    to_rival: float | None
    to_ceiling: float | None
    cpu_to_rival: float | None
    faults: list[str]


def lines(race: Race) -> list[Line]:
    """Return one line for each contestant that finished at least once, in the order of the table."""
    names = {name for laps in race.rounds for name in laps}
    return [_line(race, each.name, each.label) for each in CONTESTANTS if each.name in names]


def _line(race: Race, name: str, label: str) -> Line:
    laps = [laps[name] for laps in race.rounds if name in laps]
    return Line(
        name=name,
        label=label,
        rate=median(lap.rate for lap in laps),
        cpu=median(lap.cpu_per_1000 for lap in laps),
        peak=median(lap.peak_bytes for lap in laps),
        to_rival=_ratio(race, name, RIVAL, lambda lap: lap.rate),
        to_ceiling=_ratio(race, name, CEILING, lambda lap: lap.rate),
        cpu_to_rival=_ratio(race, name, RIVAL, lambda lap: lap.cpu_per_1000),
        faults=sorted({fault for lap in laps for fault in lap.faults}),
    )


def _ratio(race: Race, name: str, other: str, figure: Callable[[Lap], float]) -> float | None:
    pairs = [(laps[name], laps[other]) for laps in race.rounds if name in laps and other in laps]
    return median(figure(one) / figure(two) for one, two in pairs) if pairs else None


def show(race: Race, console: Console) -> None:
    """Print the table, and the faults that were found."""
    console.print(table(race))
    for sentence in compared(race):
        console.print(sentence)
    for name, said in race.fell.items():
        console.print(f"[red]{name} did not come to its end:[/] {said.strip()[-600:]}")
    for line in lines(race):
        for fault in line.faults:
            console.print(f"[yellow]{line.label}:[/] {fault}")


def compared(race: Race) -> list[str]:
    """Compare Longline with each of the others, in the terms of the goals."""
    labels = {each.name: each.label for each in CONTESTANTS}
    found = []
    for one, other in PAIRS:
        speed = _ratio(race, one, other, lambda lap: lap.rate)
        cpu = _ratio(race, one, other, lambda lap: lap.cpu_per_1000)
        if speed is not None:
            found.append(f"{labels[one]} : {labels[other]} = {speed:.2f} in pages/s, {cpu:.2f} in CPU a page")
    return found


def table(race: Race) -> Table:
    """Return all figures side by side."""
    found = Table(title=f"{race.site}; {race.concurrency} at once; medians of {len(race.rounds)}", title_justify="left")
    found.caption = f"{race.server} alone gives {race.server_rate:,.0f} pages/s" + (
        f"; {race.postgres}, durable, its CPU time counted" if race.postgres else ""
    )
    found.add_column("contestant", no_wrap=True)
    for head in ("pages/s", "CPU s/1,000", "MiB", "× Scrapy", "CPU × Scrapy", "of bare"):
        found.add_column(head, justify="right")
    for line in lines(race):
        found.add_row(
            line.label,
            f"{line.rate:,.0f}",
            f"{line.cpu:.2f}",
            f"{line.peak / 2**20:,.0f}",
            _shown(line.to_rival, "{:.1f}"),
            _shown(line.cpu_to_rival, "{:.2f}"),
            _shown(line.to_ceiling, "{:.0%}"),
        )
    return found


def _shown(figure: float | None, form: str) -> str:
    return "" if figure is None else form.format(figure)


def keep(race: Race, folder: Path = RESULTS) -> list[Path]:
    """Write every lap as JSON, the table as text and the picture, named by the time."""
    folder.mkdir(exist_ok=True)
    stem = folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}"
    found = lines(race)
    written = {
        stem.with_suffix(".json"): json.dumps({"lines": [asdict(line) for line in found], **asdict(race)}, indent=1),
        stem.with_suffix(".svg"): drawn([(line.label, line.rate) for line in found], race.site, "pages/s"),
        stem.with_suffix(".txt"): "\n".join([_text(race), *compared(race)]),
    }
    for path, text in written.items():
        path.write_text(text + "\n", encoding="utf-8")
    return list(written)


def _text(race: Race) -> str:
    written = StringIO()
    Console(file=written, width=120).print(table(race))
    return written.getvalue()
