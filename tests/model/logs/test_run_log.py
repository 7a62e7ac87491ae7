import pytest

from longline.model.logs.run_log import START, LogEntry, LogMark, LogQuery, log_line, parse_mark, read_line
from longline.model.object_keys import run_log_key


@pytest.mark.parametrize("text", [None, "", "1", "1-", "-1", "1-2-3", "a-b", "1--2", "²-1", "1-" + "9" * 19])
def test_a_text_of_another_form_is_no_mark(text: str | None):
    assert parse_mark(text) is None


def test_a_mark_is_read_back():
    assert parse_mark(str(LogMark(12, 345))) == LogMark(12, 345)
    assert parse_mark(" 1-2 ") == LogMark(1, 2)
    assert START < LogMark(1, 0) < LogMark(1, 2) < LogMark(2, 0)


def test_an_entry_is_shown_in_the_contracts_words():
    entry = LogEntry(1, 2, 1_700_000_000_005_000, "warn", "rate_limit", "slow down", '{"url":"https://a.example/"}')
    assert log_line(entry, "job", "execution") == {
        "schema_version": 1,
        "timestamp": "2023-11-14T22:13:20.005000000Z",
        "level": "warn",
        "category": "crawler.rate_limit",
        "message": "slow down",
        "job_id": "job",
        "execution_id": "execution",
        "fields": {"url": "https://a.example/"},
    }


@pytest.mark.parametrize("fields", [None, '{"n":1,"url":"https://a.example/"}'])
def test_a_line_is_read_back(fields: str | None):
    entry = LogEntry(1, 2, 1_700_000_000_000_007, "warn", "rate_limit", "slow down", fields)
    assert read_line(log_line(entry, "job", "execution"), 1, 2) == entry
    assert entry.at == 1_700_000_000_000


@pytest.mark.parametrize(
    ("query", "taken"),
    [
        (LogQuery(), True),
        (LogQuery(after=1), True),
        (LogQuery(after=2), False),
        (LogQuery(level="warn"), True),
        (LogQuery(level="info"), False),
        (LogQuery(since_us=6), True),
        (LogQuery(since_us=7), False),
    ],
)
def test_a_query_is_exclusive_in_number_and_time(query: LogQuery, taken: bool):
    assert query.takes(LogEntry(1, 2, 7, "warn", "fetch", "m", None)) is taken


def test_the_key_of_a_log_has_the_id_of_its_job_and_its_number():
    assert run_log_key("job", 7) == "logs/job/7.log.gz"
