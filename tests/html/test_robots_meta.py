"""Robots directives of headers."""

import pytest

from longline.html.robots_meta import header_directives


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        ("nofollow", {"nofollow"}),
        ("NoIndex, nofollow", {"noindex", "nofollow"}),
        ("otherbot: nofollow", set()),
        ("longline: nofollow, noindex", {"nofollow", "noindex"}),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", {"unavailable_after: 25 jun 2010 15:00:00 pst"}),
        ("max-snippet: 20, noindex", {"max-snippet: 20", "noindex"}),
    ],
)
def test_rules_of_headers(value, rules):
    assert header_directives([value]) == rules
