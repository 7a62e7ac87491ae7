import pytest

from longline.model.errors import BadInput
from longline.settings import KEYS, load
from longline.settings.premises import Premises


def test_the_manual_begins_with_where_things_are():
    assert list(KEYS)[: len(Premises.__struct_fields__)] == list(Premises.__struct_fields__)


@pytest.mark.parametrize("name", ["api_key", "search_key"])
def test_a_key_has_two_parts_and_is_not_shown(name: str):
    assert load({name: "me:secret"}, environ={}).settings.shown(name) == "***"
    for text in ("hunter2", "hunter2:", ":hunter2"):
        with pytest.raises(BadInput, match=f'{name} "[*][*][*]" is not an id and a key'):
            load({name: text}, environ={})
