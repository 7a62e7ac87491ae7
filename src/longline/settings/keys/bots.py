"""Keys of bots."""

from typing import Annotated

from longline.settings.keys.logs import LogKeys
from longline.settings.values import DOOR_ACCESS, SWITCH, Key, one_of


class BotKeys(LogKeys, frozen=True, kw_only=True):
    """The access of bots, and the hosts and leases of their tasks."""

    bots_access: Annotated[
        str,
        Key(
            one_of(*DOOR_ACCESS),
            "Registration and token of bots: key requires both, open none; auto is open on loopback.",
        ),
    ] = "auto"
    bot_reclaim: Annotated[bool, Key(SWITCH, "Offer tasks with an expired bot lease again, without an operator.")] = (
        True
    )
    bot_domain_match: Annotated[
        str,
        Key(
            one_of("contains", "suffix"),
            "Match of a bot's domain with a host: the host contains the domain, or ends in it.",
        ),
    ] = "contains"
