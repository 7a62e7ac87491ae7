"""Series, targets and their runs, on either engine."""

from longline.drivers.records.database import Database
from longline.drivers.records.logs.log_months import LogMonthRecords
from longline.drivers.records.series.automatic_runs import AutomaticRunRecords
from longline.drivers.records.series.series import SeriesRecords
from longline.drivers.records.series.series_runs import SeriesRunRecords
from longline.drivers.records.series.targets import TargetRecords
from longline.drivers.records.sources.source_versions import SourceVersionRecords
from longline.ports.records.series import SeriesStores


def series_stores(database: Database) -> SeriesStores:
    """Return the stores of catalogues in a database."""
    return SeriesStores(
        SeriesRecords(database),
        TargetRecords(database),
        SeriesRunRecords(database),
        LogMonthRecords(database),
        SourceVersionRecords(database),
        AutomaticRunRecords(database),
    )
