"""Timestamps in the formats of the web."""

import pytest

from longline.model.timestamps import read_us, w3c_moment, written, written_us


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1997", 852076800000),
        ("1997-07", 867715200000),
        ("1997-07-16", 869011200000),
        ("1997-07-16T19:20+01:00", 869077200000),
        ("1997-07-16T19:20:30+01:00", 869077230000),
        ("1997-07-16T19:20:30.45+01:00", 869077230450),
        ("1997-07-16T19:20:30Z", 869080830000),
        (" 1997-07-16t19:20:30z\n", 869080830000),
        ("1997-07-16 19:20:30", 869080830000),
        ("1997-07-16 19:20:30 UTC", 869080830000),
        ("1997-07-16T19:20:30-0330", 869093430000),
        ("1997-07-16T19:20:30.1234567Z", 869080830123),
        ("1998-12-31T23:59:60Z", 915148799000),
        ("1998-12-31T23:59:61Z", None),
        ("1997-7-6", 868147200000),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("1997-13", None),
        ("1997-02-29", None),
        ("1997-07-16T24:20", None),
        ("16.07.1997", None),
        ("yesterday", None),
        ("١٩٩٧", None),
        ("", None),
    ],
)
def test_w3c_dates_are_read(text: str, moment: int | None) -> None:
    assert w3c_moment(text) == moment


def test_a_timestamp_is_written_as_it_is_read():
    assert written(1_700_000_000_007) == "2023-11-14T22:13:20.007Z"
    assert w3c_moment(written(1_700_000_000_007)) == 1_700_000_000_007


@pytest.mark.parametrize("at_us", [0, 7, 999_999, 1_700_000_000_005_003, 1_700_000_000_999_999])
def test_microseconds_are_written_and_read_back(at_us: int):
    assert read_us(written_us(at_us)) == at_us
    assert written_us(1_700_000_000_005_003) == "2023-11-14T22:13:20.005003Z"
