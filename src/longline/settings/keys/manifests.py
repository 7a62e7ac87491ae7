"""Keys of manifests."""

from typing import Annotated

from longline.settings.keys.products import ProductKeys
from longline.settings.values import DOOR_ACCESS, Key, one_of


class ManifestKeys(ProductKeys, frozen=True, kw_only=True):
    """The access to the API of manifests."""

    manifests_access: Annotated[
        str,
        Key(
            one_of(*DOOR_ACCESS),
            "Credentials at the manifest API: key requires a token or a key, open none; auto is open on loopback.",
        ),
    ] = "auto"
