"""Secrets and keys of the platform: from the settings, else from files that are generated once in the data folder."""

import os
import secrets
import tempfile
from base64 import b64encode
from pathlib import Path

from longline.model.errors import BadInput, DiskFull, LonglineError, is_disk_full
from longline.settings.data_folder import prepare_folder
from longline.settings.keys import Settings

SECRET_NAME = "auth.secret"
VAULT_NAME = "vault.secret"
WEBHOOK_NAME = "webhook.secret"
_SECRET_CHARS = 64


def jwt_secret(settings: Settings) -> str:
    """Return the secret that signs tokens: from the settings, else from the data folder, created on first use."""
    return settings.jwt_secret or _stored_secret(settings.data, SECRET_NAME, "tokens that were issued become invalid")


def jwt_public_key(settings: Settings) -> str:
    """Return the PEM text of the public key that verifies RS256 tokens; an empty text if none is configured."""
    if not settings.jwt_public_key_file:
        return ""
    path = Path(settings.jwt_public_key_file)
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no PEM text"
        raise BadInput(f"jwt_public_key_file: {path} cannot be read: {reason}") from error


def vault_key(settings: Settings) -> str:
    """Return the key that encrypts stored passwords: from the settings, else from the data folder."""
    return settings.vault_key or _stored_secret(settings.data, VAULT_NAME, "stored passwords must be entered again")


def readable_vault_key(settings: Settings) -> str:
    """Return the key of the vault, and create no file; without read permission, a key that decrypts nothing."""
    is_known = settings.vault_key or os.access(settings.data / VAULT_NAME, os.R_OK)
    return vault_key(settings) if is_known else secrets.token_hex(_SECRET_CHARS // 2)


def webhook_secret(settings: Settings) -> str:
    """Return the secret that signs webhooks, `whsec_` and Base64: from the settings, else from the data folder."""
    if settings.webhook_secret:
        return settings.webhook_secret
    text = _stored_secret(settings.data, WEBHOOK_NAME, "receivers of webhooks need the new secret")
    return f"whsec_{b64encode(bytes.fromhex(text)).decode()}"


def _stored_secret(folder: Path, name: str, price: str) -> str:
    """Return a secret of the data folder, created on first use; `price` is the consequence of its loss."""
    path = folder / name
    if not path.exists():
        prepare_folder(folder)
    try:
        if not path.exists():
            _create(path)
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and is_disk_full(error):
            raise DiskFull(f"the disk is full: secret {path} cannot be written; make room") from error
        raise LonglineError(f"secret {path} cannot be used: {getattr(error, 'strerror', error)}") from error
    if len(text) < _SECRET_CHARS:
        raise LonglineError(f"secret {path} is damaged; delete it to generate a new one ({price})")
    return text


def _create(path: Path) -> None:
    # Written whole under another name and then linked: of two processes that start together one wins, and the other
    # never sees half a secret.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_SECRET_CHARS // 2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)
