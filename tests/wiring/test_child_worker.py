import msgspec
import pytest

from longline.settings import Settings
from longline.wiring.child_worker import _child_environment


def test_a_child_reads_the_same_settings_and_no_others(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGLINE_DATA", "/elsewhere")
    monkeypatch.setenv("LONGLINE_CONFIG", "/some/file")
    monkeypatch.setenv("PATH_OF_MINE", "kept")
    given = _child_environment(msgspec.structs.replace(settings, concurrency=7))
    assert (given["LONGLINE_DATA"], given["LONGLINE_CONCURRENCY"]) == (str(settings.data), "7")
    assert ("LONGLINE_CONFIG" in given, given["PATH_OF_MINE"]) == (False, "kept")
