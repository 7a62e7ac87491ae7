"""Keys of product tasks, domains and products."""

from typing import Annotated

from longline.settings.keys.bots import BotKeys
from longline.settings.values import DOOR_ACCESS, DURATION, TEXT, Key, integer, one_of


class ProductKeys(BotKeys, frozen=True, kw_only=True):
    """The API of product tasks: access, limits of callers, webhooks and alerts."""

    products_access: Annotated[
        str,
        Key(
            one_of(*DOOR_ACCESS),
            "Credentials at the product-tasks API: key requires a token or an API key, open none; auto is open on"
            " loopback.",
        ),
    ] = "auto"
    products_admin_per_hour: Annotated[
        int,
        Key(
            integer(0),
            "Requests an hour of one caller below /api/admin, unless its API key has a limit; 0 is no limit.",
        ),
    ] = 1000
    products_read_per_hour: Annotated[
        int,
        Key(
            integer(0),
            "Requests an hour of one caller below /api/products, unless its API key has a limit; 0 is no limit.",
        ),
    ] = 5000
    webhook_secret: Annotated[
        str,
        Key(
            TEXT,
            "Secret, whsec_ and Base64, that signs webhooks of tasks; if not set, one is generated in the data folder.",
            secret=True,
        ),
    ] = ""
    webhook_retry: Annotated[
        float,
        Key(DURATION, "Delay before the second try of a webhook; the delay before the third is six times as long."),
    ] = 10.0
    alert_min_proxies: Annotated[
        int, Key(integer(0), "Active proxies of a domain; an alert is raised if a domain has fewer.")
    ] = 3
    alert_failure_percent: Annotated[
        int, Key(integer(0, 100), "Failed requests of a domain in percent; an alert is raised above it.")
    ] = 10
    alert_average_ms: Annotated[
        int, Key(integer(0), "Mean response time of a proxy in milliseconds; an alert is raised above it.")
    ] = 5000
    alert_queue_depth: Annotated[
        int, Key(integer(0), "Tasks that are due and leased by no worker; an alert is raised above it.")
    ] = 100_000
    alert_stalled_run: Annotated[
        float, Key(DURATION, "Time without a move of any task after which a run with open tasks raises an alert.")
    ] = 1800.0
    alert_queue_wait: Annotated[
        float, Key(DURATION, "Time for which a ready host may wait for a worker before an alert is raised.")
    ] = 600.0
