"""Settings files, in order of precedence."""

from pathlib import Path

import pytest

from longline.model.errors import BadInput
from longline.settings.files import settings_files


def test_default_files_need_not_exist():
    assert settings_files(None, {}) == []


def test_our_file_wins_over_the_file_of_the_contract():
    Path("config").mkdir()
    Path("config/fetchbox.toml").write_text("a = 1")
    Path("longline.toml").write_text("a = 2")
    assert settings_files(None, {}) == [({"a": 1}, "config/fetchbox.toml"), ({"a": 2}, "longline.toml")]
    Path("mine.toml").write_text("a = 3")
    assert settings_files(Path("mine.toml"), {"LONGLINE_CONFIG": "x"})[-1] == ({"a": 3}, "mine.toml")
    assert settings_files(None, {"LONGLINE_CONFIG": "mine.toml"})[-1] == ({"a": 3}, "mine.toml")


@pytest.mark.parametrize("variable", ["LONGLINE_CONFIG", "FETCHBOX_CONFIG"])
def test_a_named_file_must_be_readable(variable: str):
    with pytest.raises(BadInput, match=r"settings file gone\.toml cannot be read: No such file"):
        settings_files(None, {variable: "gone.toml"})
    Path("bad.toml").write_text("=")
    with pytest.raises(BadInput, match=r"settings file bad\.toml is not TOML"):
        settings_files(None, {variable: "bad.toml"})
