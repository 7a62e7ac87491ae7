"""Settings of the operator: one typed object, read once from file, environment and flags."""

from longline.settings.data_folder import prepare_folder
from longline.settings.keys import KEYS, Settings
from longline.settings.layers import Loaded, load
from longline.settings.secret_files import jwt_public_key, jwt_secret, readable_vault_key, vault_key, webhook_secret
from longline.settings.values import Key

__all__ = [
    "KEYS",
    "Key",
    "Loaded",
    "Settings",
    "jwt_public_key",
    "jwt_secret",
    "load",
    "prepare_folder",
    "readable_vault_key",
    "vault_key",
    "webhook_secret",
]
