"""The place of an exception: the line of the author's file, however deep the failing call is."""

import json
from pathlib import Path

import pytest

from longline.plugins.failure import describe, place_of, shown


def raised(source: str, file: Path) -> BaseException:
    """The exception of a program in a file."""
    file.write_text(source)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any exception of a foreign program
        exec(compile(source, file, "exec"), {"json": json})
    return caught.value


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("x = 1\n\n1 / 0", 3, "ZeroDivisionError('division by zero')"),
        ("def f():\n    return {}['price']\n\n\nf()", 2, "KeyError('price')"),
        ("\njson.loads('[')", 2, "JSONDecodeError('Expecting value: line 1 column 2 (char 1)')"),
        ("a = 1\nb = = 2", 2, "SyntaxError: invalid syntax"),
        ("raise ValueError('half\\x00\\nline')", 1, "ValueError('half\\x00\\nline')"),
    ],
)
def test_the_innermost_line_of_the_file_is_named(tmp_path: Path, source: str, line: int, said: str):
    file = tmp_path / "own.py"
    error = raised(source, file)
    assert describe(error, str(file)) == f"{file}:{line}: {said}"


def test_an_exception_from_elsewhere_has_no_place():
    error = ValueError("x")
    assert place_of(error, "own.py") == ""
    assert describe(error, "own.py") == "ValueError('x')"


def test_a_file_below_the_present_folder_is_shown_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "shop" / "own.py")) == "shop/own.py"
    assert shown("/elsewhere/own.py") == "/elsewhere/own.py"
    assert shown("own.py") == "own.py"
