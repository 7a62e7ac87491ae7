"""Settings of one API that its admins keep in the database; they override the operator's for that API alone."""

import msgspec


class DoorSettingRow(msgspec.Struct, frozen=True):
    """A setting as stored; ids count from 100000."""

    id: int
    door: str
    key: str
    value: str | None
    description: str | None
    created_at: int
    updated_at: int
