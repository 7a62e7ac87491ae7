"""Keys of product tasks, domains and products."""

from typing import Annotated

from longline.settings.keys.bots import BotKeys
from longline.settings.values import DOOR_ACCESS, Key, one_of


class ProductKeys(BotKeys, frozen=True, kw_only=True):
    """The access to the API of product tasks."""

    products_access: Annotated[
        str,
        Key(
            one_of(*DOOR_ACCESS),
            "Credentials at the product-tasks API: key requires a token or an API key, open none; auto is open on"
            " loopback.",
        ),
    ] = "auto"
