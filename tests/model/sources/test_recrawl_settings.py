import pytest

from longline.model.errors import BadInput
from longline.model.sources.recrawl_settings import DailyWindow, RecrawlSettings, recrawl_settings


def test_settings_are_stored_without_their_defaults():
    assert RecrawlSettings().text() == "{}"
    changed = RecrawlSettings(frequency="12 hours", window=DailyWindow(82_800, 3_600), images=True)
    assert recrawl_settings(changed.text()) == changed
    assert recrawl_settings("{}") == RecrawlSettings()


@pytest.mark.parametrize("window", [(0, 0), (-1, 5), (5, 86_400)])
def test_a_window_has_two_times_of_the_day(window: tuple[int, int]):
    with pytest.raises(BadInput):
        DailyWindow(*window)


def test_a_frequency_is_checked():
    with pytest.raises(BadInput):
        RecrawlSettings(frequency="often")
