"""A segment is one archive file of many pages."""

import msgspec


class SegmentRow(msgspec.Struct, frozen=True):
    """A segment as stored: `writing` until the report that names its pages has committed, `stored` after."""

    id: int
    key: str
    owner: int
    state: str
    records: int
    bytes: int
    created_at: int
