"""Keys of settings of one API."""

import pytest

from longline.model.callers.door_setting import MAX_KEY_CHARS, is_setting_key


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("site.name", True),
        ("crawler.max_retries", True),
        ("a.b.c", True),
        ("site", False),
        ("site.", False),
        ("Site.name", False),
        ("1site.name", False),
        ("site..name", False),
        ("site.name\n", False),
        (f"site.{'n' * (MAX_KEY_CHARS - 5)}", True),
        (f"site.{'n' * (MAX_KEY_CHARS - 4)}", False),
    ],
)
def test_a_key_of_a_setting_consists_of_names_with_dots(text: str, is_key: bool):
    assert is_setting_key(text) is is_key
