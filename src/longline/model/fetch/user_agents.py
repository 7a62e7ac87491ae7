"""User agents: our own, and those of browsers for sites that answer no others."""

from longline import __version__

DEFAULT_USER_AGENT = "longline/" + ".".join(__version__.split(".")[:2])
"""Our product token with the first two parts of the version (RFC 9110, section 10.1.5)."""

BROWSER_USER_AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:128.0) Gecko/20100101 Firefox/128.0",
)
"""User agents to use in turn, where the operator enables that."""
