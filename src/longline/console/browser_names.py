"""Names of browsers, read from the User-Agent header of a session."""

_BROWSERS = (("Firefox/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    *(("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows")),
    *(("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
)


def browser_name(agent: str) -> str:
    """Return the name of a browser and of its system, as far as its header tells them."""
    name = next((title for word, title in _BROWSERS if word in agent), "")
    system = next((title for word, title in _SYSTEMS if word in agent), "")
    return f"{name} on {system}" if name and system else name or agent[:60]
