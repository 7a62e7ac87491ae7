import pytest

from longline.engine.stored_secrets import Vault
from longline.model.errors import BadInput, Unavailable


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault("a key")


@pytest.mark.parametrize("text", ["hunter2", "p:@/ ü漢\n", "x" * 10_000])
def test_a_locked_text_is_unlocked(vault: Vault, text: str):
    locked = vault.lock(text)
    assert text not in locked
    assert vault.unlock(locked) == text
    assert vault.lock(text) != locked, "equal secrets do not look equal"


def test_a_vault_with_the_same_key_unlocks_and_one_with_another_does_not(vault: Vault):
    locked = vault.lock("hunter2")
    assert Vault("a key").unlock(locked) == "hunter2"
    with pytest.raises(Unavailable, match="another key") as caught:
        Vault("b key").unlock(locked)
    assert locked not in str(caught.value)


@pytest.mark.parametrize("place", [0, 20, 40, -5])
def test_a_changed_secret_is_refused(vault: Vault, place: int):
    locked = list(vault.lock("hunter2"))
    locked[place] = "A" if locked[place] != "A" else "B"
    with pytest.raises(Unavailable):
        vault.unlock("".join(locked))


@pytest.mark.parametrize("text", ["hunter2", "ü"])
def test_a_text_that_was_never_locked_is_refused(vault: Vault, text: str):
    with pytest.raises(Unavailable):
        vault.unlock(text)


def test_an_empty_text_stays_empty(vault: Vault):
    assert vault.lock("") == ""
    assert vault.unlock("") == ""


def test_a_vault_needs_a_key_and_does_not_show_it():
    with pytest.raises(BadInput, match="key"):
        Vault("")
    assert "zebra" not in repr(Vault("zebra"))
