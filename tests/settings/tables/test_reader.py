"""Values of tables by their paths."""

import pytest

from longline.settings.tables import ROOT, Tables
from longline.settings.tables.reader import build, values_of_environment, values_of_file
from longline.settings.values import RawValue


def test_an_entry_is_a_value_by_itself():
    assert values_of_file({"job_types": {"a": {}}}, ROOT, "f") == {("job_types", "a"): RawValue({}, "f")}
    assert list(build(Tables, {("job_types", "a"): RawValue({}, "f")}).job_types) == ["a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("8", 8), ("true", True), ('"8"', "8"), ("[1]", [1]), ("{a = 1}", {"a": 1}), ("plain text", "plain text")),
        *(("1\nb = 2", "1\nb = 2"), ("", "")),
    ],
)
def test_a_free_value_of_a_variable_is_toml_or_a_text(text: str, value: object):
    [(path, found)] = values_of_environment({"X__JOB_TYPES__A__OPTIONS__B": text}, "X__", ROOT, ()).items()
    assert (path, found.raw) == (("job_types", "a", "options", "b"), value)


def test_keys_of_typed_tables_stay_texts():
    values = values_of_environment({"X__OPERATOR__TOKEN": "8"}, "X__", ROOT, ())
    assert build(Tables, values).operator.token == "8"


@pytest.mark.parametrize("names", [("a-b", "a_b"), ("a_b", "a-b"), ("A.B", "A_B")])
def test_a_variable_means_the_entry_with_the_same_characters(names: tuple[str, str]):
    [(path, _)] = values_of_environment(
        {"X__JOB_TYPES__A_B__HANDLER": "m:C"}, "X__", ROOT, [("job_types", name) for name in names]
    ).items()
    assert path[1].lower() == "a_b"
