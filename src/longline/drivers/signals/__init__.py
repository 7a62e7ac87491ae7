"""Wake-up signals: inside the process, by PostgreSQL, or by Redis."""

from longline.drivers.extras import load_driver
from longline.drivers.signals.local import LocalSignals
from longline.drivers.signals.reconnecting import ReconnectingSignals
from longline.ports.signals import Signals


def open_signals(database: str, redis: str | None = None) -> Signals:
    """Return signals by Redis if given, else by a PostgreSQL database, else in process; connect to nothing yet."""
    if redis:
        return ReconnectingSignals(load_driver("longline.drivers.signals.redis").RedisTransport(redis))
    if database.startswith(("postgresql://", "postgres://")):
        return ReconnectingSignals(load_driver("longline.drivers.signals.postgres").PostgresTransport(database))
    return LocalSignals()
