import pytest

from longline.model.duration import parse_duration, show_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("1h", 3600),
        ("500ms", 0.5),
        ("1h30m", 5400),
        ("168h", 604800),
        ("2d", 172800),
        ("45", 45),
        (" 10S ", 10),
        ("1.5s", 1.5),
    ],
)
def test_durations_are_read(text: str, seconds: float):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "abc", "-5s", "5 m", "10x", "1h banana", "1..5", "٣s5", "١", "١s"])
def test_a_text_that_is_no_duration_is_refused(text: str):
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.5, "500ms"),
        (1.5, "1.5s"),
        (30, "30s"),
        (300, "5m"),
        (3723, "1h2m3s"),
        (90000, "25h"),
        (59.6, "59.6s"),
        (90.5, "90.5s"),
        (0.0015, "1.5ms"),
    ],
)
def test_durations_are_shown_as_people_write_them(seconds: float, text: str):
    assert show_duration(seconds) == text


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.25, 1.0, 59.999, 60.0, 3601.0, 90061.5, 604800.0])
def test_a_shown_duration_is_read_back(seconds: float):
    assert parse_duration(show_duration(seconds)) == pytest.approx(seconds, abs=1e-9)
