"""Names of the HTTP APIs; an API key opens one of them, or the console."""

INTERVALS = "intervals"
BOTS = "bots"
PRODUCTS = "products"
CATALOGUE = "catalogue"
MANIFESTS = "manifests"
PLATFORM = "platform"
CONSOLE = "console"

APIS = (INTERVALS, BOTS, PRODUCTS, CATALOGUE, MANIFESTS, PLATFORM)
DOORS = (*APIS, CONSOLE)
