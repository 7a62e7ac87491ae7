"""Planning is measured, and its table can be read."""

from pathlib import Path

from rich.console import Console

from bench import scheduler


async def test_a_small_planning(tmp_path: Path):
    measured = await scheduler.measure(f"sqlite:///{tmp_path / 'bench.db'}", 1200)
    assert (measured.schedules, measured.shifts > 0, measured.memory_mb > 0) == (1200, True, True)
    assert min(measured.start_ms, measured.preview_ms, measured.hours_ms) > 0
    console = Console(record=True, width=100)
    scheduler.show([measured], "sqlite", console)
    assert "1,200" in console.export_text()
