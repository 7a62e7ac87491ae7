"""Builders of aliases."""

import pytest

from longline.settings.aliases.alias import Alias, negated, prefixed, renamed, with_unit


@pytest.mark.parametrize(
    ("alias", "text", "built"),
    [
        (renamed("A", "a"), "x", {"a": "x"}),
        (with_unit("A", "a", "m"), " 5 ", {"a": "5m"}),
        (negated("A", "a"), "yes", {"a": "False"}),
        (negated("A", "a"), "off", {"a": "True"}),
    ],
)
def test_an_alias_builds_its_setting(alias: Alias, text: str, built: dict[str, str]):
    assert alias.build({"A": text}) == built


def test_names_have_their_prefix():
    assert prefixed("A_", "B C") == ("A_B", "A_C")
