"""Wrong command lines: their texts, and the hint for an option that stands before its command."""

import subprocess
import sys

import pytest

from tests.cli.conftest import Command, assert_one_line


def test_a_text_in_place_of_a_number_is_told_in_our_words(longline: Command):
    assert_one_line(longline("urls", "--run", "x"), 2, "Invalid value for '--run': it is no integer")


def test_a_value_of_a_list_is_told_without_the_words_of_the_library(longline: Command):
    said = "Invalid value for '--format': 'xml' is not one of 'table', 'jsonl', 'csv'."
    assert_one_line(longline("urls", "--format", "xml"), 2, said)


def test_an_option_before_its_command_is_shown_in_its_place(longline: Command):
    place = "No such option: --data; it stands behind a command, as in longline sinks list --data"
    assert_one_line(longline("sinks", "--data", "site"), 2, place)
    assert "behind a command" not in longline("sinks", "--nonsense").stderr
    assert "behind a command" not in longline("sinks", "list", "--nonsense").stderr


def test_a_nested_group_is_shown_behind_its_parents(longline: Command):
    place = "No such option: --data; it stands behind a command, as in longline manifests dlq list --data"
    assert_one_line(longline("manifests", "dlq", "--data", "site"), 2, place)


@pytest.mark.parametrize(
    ("words", "place"),
    [("--address f", "fetchbox api --address"), ("ledger --out f", "fetchbox ledger export --out")],
)
def test_the_program_of_the_contract_is_shown_under_its_own_name(words: str, place: str):
    command = [sys.executable, "-m", "longline.cli.commands.fetchbox", *words.split()]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert_one_line(outcome, 2, f"it stands behind a command, as in {place}")
