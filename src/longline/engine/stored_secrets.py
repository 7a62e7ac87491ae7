"""Secrets at rest: encrypted texts, readable with the same key only."""

import base64
import hashlib
from functools import cached_property

from cryptography.fernet import Fernet, InvalidToken

from longline.model.errors import BadInput, Unavailable

_LABEL = b"longline vault 1"


class Vault:
    """A vault that encrypts texts with one key. Any text may be the key: scrypt makes guessing a short key slow."""

    def __init__(self, key: str) -> None:
        if not key:
            raise BadInput("a key is needed to keep secrets")
        self._key = key

    @cached_property
    def _fernet(self) -> Fernet:
        # Derived with the first secret: most installations never store one. The salt is fixed: every process with the
        # same key must derive the same Fernet key.
        stretched = hashlib.scrypt(self._key.encode(), salt=_LABEL, n=2**14, r=8, p=1, dklen=32)
        return Fernet(base64.urlsafe_b64encode(stretched))

    def lock(self, text: str) -> str:
        """Encrypt a text; an empty text stays empty."""
        return self._fernet.encrypt(text.encode()).decode() if text else ""

    def unlock(self, locked: str) -> str:
        """Decrypt a text; raise `Unavailable` when it was encrypted with another key, or tampered with."""
        if not locked:
            return ""
        try:
            return self._fernet.decrypt(locked.encode()).decode()
        except (InvalidToken, UnicodeEncodeError):
            raise Unavailable("a stored secret cannot be read: it was locked with another key, or spoilt") from None

    def __repr__(self) -> str:
        return "Vault()"
