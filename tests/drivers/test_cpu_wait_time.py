import time
from pathlib import Path

import pytest

from longline.drivers import cpu_wait_time as module
from longline.drivers.cpu_wait_time import run_delay


def test_the_run_delay_of_a_thread_only_grows():
    before = run_delay()
    time.sleep(0.05)
    after = run_delay()
    assert 0.0 <= before <= after


@pytest.mark.parametrize("text", ["12 3500000000 7\n", "12 3500000000 7"])
def test_the_run_delay_is_the_second_number_in_seconds(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "schedstat").write_text(text)
    monkeypatch.setattr(module, "_SCHEDSTAT", tmp_path / "schedstat")
    assert run_delay() == 3.5


@pytest.mark.parametrize("text", [None, "", "12", "12 many 7"])
def test_without_the_figure_the_delay_is_zero(text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if text is not None:
        (tmp_path / "schedstat").write_text(text)
    monkeypatch.setattr(module, "_SCHEDSTAT", tmp_path / "schedstat")
    assert run_delay() == 0.0
