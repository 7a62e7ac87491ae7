"""Aliases of settings: the names in all contracts."""

from longline.settings import KEYS
from longline.settings.aliases import ALIASES, canonical_name, environment_names


def test_a_setting_goes_by_its_own_name_first():
    assert environment_names("delay") == ("LONGLINE_DELAY", "CRAWLER_DELAY")
    assert environment_names("port") == ("LONGLINE_PORT", "CRAWLER_SERVER_ADDRESS")
    assert canonical_name("user_agent") == "LONGLINE_USER_AGENT"


def test_aliases_name_settings_that_exist():
    assert {setting for alias in ALIASES for setting in alias.settings} <= set(KEYS)
