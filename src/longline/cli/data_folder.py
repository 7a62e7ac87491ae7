"""Where a command that reads finds what was kept."""

import msgspec

from longline.settings import Loaded, Settings

READS = ("data", "database", "objects", "log_level")


def kept(loaded: Loaded) -> Settings:
    """The settings, but for a folder of `longline crawl`, which keeps its archive beside the database."""
    settings = loaded.settings
    if loaded.origins["objects"] == "default" and (settings.data / "warc").is_dir():
        return msgspec.structs.replace(settings, objects=settings.data.as_uri())
    return settings
