import pytest

from longline.model.errors import BadInput
from longline.model.recrawls.frequency import frequency_ms, frequency_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1 day", 86_400), ("12 Hours", 43_200), ("1 second", 1), ("2 months", 5_184_000), (" 3 weeks ", 1_814_400)],
)
def test_a_frequency_is_a_number_and_a_unit(text: str, seconds: int):
    assert frequency_ms(text) == seconds * 1000


@pytest.mark.parametrize("text", ["", "day", "0 days", "-1 days", "1.5 days", "1 fortnight", "1day", "1000000 years"])
def test_another_text_is_refused(text: str):
    with pytest.raises(BadInput):
        frequency_ms(text)


def test_the_text_has_one_form():
    assert [frequency_text(text) for text in ("1  DAYS", "02 hour")] == ["1 day", "2 hours"]
