"""Responses about settings, and their making from rows."""

import msgspec

from longline.model.callers.door_setting import DoorSettingRow
from longline.surfaces.catalogue.field_types import Timestamp, time_text


class Setting(msgspec.Struct, frozen=True):
    """A setting."""

    id: int
    key: str
    value: str | None
    description: str | None
    createdat: Timestamp
    updatedat: Timestamp


def shown_setting(row: DoorSettingRow) -> Setting:
    """Return a setting."""
    return Setting(row.id, row.key, row.value, row.description, time_text(row.created_at), time_text(row.updated_at))
