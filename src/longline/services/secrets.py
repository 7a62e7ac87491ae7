"""Secrets at rest: what is locked here can be read with the same key alone."""

import base64
import hashlib
from functools import cached_property

from cryptography.fernet import Fernet, InvalidToken

from longline.model.errors import BadInput, Unavailable

_LABEL = b"longline vault 1"


class Vault:
    """Locks texts with one key. The key may be any text; it is stretched, so that a short one costs a guesser time."""

    def __init__(self, key: str) -> None:
        if not key:
            raise BadInput("a key is needed to keep secrets")
        self._key = key

    @cached_property
    def _fernet(self) -> Fernet:
        # Stretched when the first secret comes: most who could have one never do. The salt is fixed: every process that
        # is given the same key must find the same lock.
        stretched = hashlib.scrypt(self._key.encode(), salt=_LABEL, n=2**14, r=8, p=1, dklen=32)
        return Fernet(base64.urlsafe_b64encode(stretched))

    def lock(self, text: str) -> str:
        """The text, unreadable; nothing stays nothing."""
        return self._fernet.encrypt(text.encode()).decode() if text else ""

    def unlock(self, locked: str) -> str:
        """The text that was locked; raises `Unavailable` when it was locked with another key, or tampered with."""
        if not locked:
            return ""
        try:
            return self._fernet.decrypt(locked.encode()).decode()
        except (InvalidToken, UnicodeEncodeError):
            raise Unavailable("a stored secret cannot be read: it was locked with another key, or spoilt") from None

    def __repr__(self) -> str:
        return "Vault()"
