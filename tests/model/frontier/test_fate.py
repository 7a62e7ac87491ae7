"""Filters of lists of URLs."""

import pytest

from longline.model.errors import BadInput
from longline.model.frontier.fate import FATES, UrlFilters


def test_lists_can_be_filtered_by_every_fate():
    assert [UrlFilters(fate).fate for fate in FATES] == ["cancelled", "completed", "failed", "skipped", "open"]


@pytest.mark.parametrize(
    ("fate", "said"), [("lost", "no such fate: lost; there are cancelled, "), ("refused", "refused URLs are counted")]
)
def test_another_fate_is_refused(fate: str, said: str):
    with pytest.raises(BadInput, match=said):
        UrlFilters(fate)


def test_a_reason_of_urls_that_were_never_admitted_is_refused():
    with pytest.raises(BadInput, match="offsite URLs are counted in the summary, not listed"):
        UrlFilters(reason="offsite")
    assert UrlFilters(reason="bad_url").reason == "bad_url", "a redirect to a bad URL fails an admitted one"
    assert UrlFilters(reason="of-a-bot").reason == "of-a-bot"
