import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.drivers.signals.codec import checked_signal, checked_topics, read, written
from longline.model.errors import BadInput
from longline.ports.signals import Signal

TOPIC = st.from_regex(r"[a-z][a-z0-9_.:-]{0,63}", fullmatch=True)


@given(TOPIC, st.text(st.characters(exclude_categories=["Cs"]), max_size=1000))
def test_a_signal_is_read_back_from_the_carrier(topic, text):
    signal = checked_signal(topic, text)
    assert read(written(signal)) == read(written(signal).encode()) == Signal(topic, text)


@pytest.mark.parametrize("text", ["\x01" * 1000, "🎣" * 1000, '"' * 1000])
def test_the_longest_signal_fits_a_notification(text):
    assert len(written(checked_signal("x" * 64, text)).encode()) < 8000


@pytest.mark.parametrize(
    "payload", ["", "text", "[]", '["a"]', '["a", 1]', '["a", "b", "c"]', b"\xff", '{"topic": "a"}']
)
def test_a_payload_of_another_form_is_no_signal(payload):
    assert read(payload) is None


def test_topics_are_words():
    assert checked_topics(["work", "work", "logs.run-1"]) == {"work", "logs.run-1"}
    for topics in ([], ["Work"], ["work", "two words"]):
        with pytest.raises(BadInput):
            checked_topics(topics)
