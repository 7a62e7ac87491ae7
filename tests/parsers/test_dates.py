"""One form for every date."""

import pytest

from longline.parsers.dates import date_of, timestamp_of


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-05-01T10:20:30Z", "2024-05-01T10:20:30+00:00"),
        ("2024-05-01t10:20:30z", "2024-05-01T10:20:30+00:00"),
        ("2024-05-01T10:20:30.123456789+02:00", "2024-05-01T10:20:30.123456+02:00"),
        ("2024-05-01T10:20:30+0200", "2024-05-01T10:20:30+02:00"),
        ("2024-05-01T10:20:30", "2024-05-01T10:20:30+00:00"),
        ("2024-05-01T10:20", "2024-05-01T10:20:00+00:00"),
        ("2024-05-01 10:20:30", "2024-05-01T10:20:30+00:00"),
        (" 2024-05-01 ", "2024-05-01T00:00:00+00:00"),
        ("2024-W18-3", None),
        ("1 May 2024", None),
        ("2024-13-01", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_dates(text, date):
    assert date_of(text) == date


EVENING = 1072986501000
MIDNIGHT = 1072915200000


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2004-01-01T19:48:21.25Z", EVENING + 250),
        ("Thu, 01 Jan 2004 19:48:21 GMT", EVENING),
        ("Thu,1 January 04 14:48:21 EST", EVENING),
        ("Thursday, 01-Jan-04 21:48:21 GMT+2", EVENING),
        ("Thu, 1 Jan 2004, 7:48:21 PM", EVENING),
        ("Thu, 01 Jan 2004 21:48:21 CEST", EVENING),
        ("Thu, 01 Jan 2004 20:48:21 +01:00", EVENING),
        ("Thu, 01 Jan 2004 19:48:21 America/New_York", EVENING),
        ("Thu Jan  1 19:48:21 2004", EVENING),
        ("Thu Jan 1 19:48:21 UTC 2004", EVENING),
        ("Thu Jan 1 11:48:21 -0800 2004", EVENING),
        ("20040101T194821Z", EVENING),
        ("1072986501", EVENING),
        ("1072986501250", EVENING + 250),
        ("2004/01/01 19:48:21", EVENING),
        ("2004\u5e741\u67081\u65e5 19:48:21", EVENING),
        ("2004\ub144 01\uc6d4 01\uc77c 19:48:21", EVENING),
        ("1.1.2004 19:48:21", EVENING),
        ("1/1/2004 7:48:21 p.m.", EVENING),
        ("13/01/2004", MIDNIGHT + 12 * 86_400_000),
        ("01/13/2004", MIDNIGHT + 12 * 86_400_000),
        ("jan 1st, 2004", MIDNIGHT),
        ("jeu., 1 janv. 2004", MIDNIGHT),
        ("1 de enero de 2004", MIDNIGHT),
        ("\u0427\u0442, 01 \u044f\u043d\u0432 2004 22:48:21 +0300", EVENING),
        ("12 juin 2004", 1086998400000),
        ("12 juil. 2004", 1089590400000),
        ("31 Dec 99", 946598400000),
        ("Thu, 01 Jan 2004 12:00 AM", MIDNIGHT),
        ("2004-W01-4", MIDNIGHT),
        ("Thu, 01 Jan 2004 25:00:00 GMT", None),
        ("Thu, 32 Jan 2004", None),
        ("Thu, 01 Foo 2004", None),
        ("Mon, 30 Nov -0001 00:00:00 +0000", None),
        ("0000-00-00 00:00:00", None),
        ("2004-janu\u00e1r-01T14:48:21-05:00", EVENING),
        ("\u039a\u03c5\u03c1, 11 \u0399\u03bf\u03cd\u03bb 2004 12:00:00 EST", 1089565200000),
        ("Fri, 2004/01/01 15:48:21 EDT", EVENING),
        ("2013-01-27-01", None),
        ("version 10.11.12", None),
        ("soon", None),
        ("", None),
        ("1 " * 200 + "Jan 2004", None),
    ],
)
def test_moments(text, moment):
    assert timestamp_of(text) == moment
