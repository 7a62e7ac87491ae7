"""Records of direct producers."""

import json
from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.surfaces.manifests.streams.stream_records import read_task

TASK = {"job_id": "job", "job_type": "gallery", "resource_id": "a/b", "url": "https://a.example/"}


def record(**more: Any) -> bytes:
    return json.dumps(TASK | more).encode()


@pytest.mark.parametrize(("name", "value"), [("X-A", "a\x01"), ("X-A", "a\r\nX-B: c"), ("X A", "a"), ("", "a")])
def test_a_task_with_a_header_that_cannot_be_sent_is_no_task(name: str, value: str):
    with pytest.raises(BadInput, match="not a task: the header"):
        read_task(record(headers=[{"name": name, "value": value}]))


def test_a_prefix_of_keys_keeps_each_file_in_the_folder_of_its_job():
    task = read_task(
        record(job_id="../job", storage_hint={"key_prefix": "mine/"}, headers=[{"name": "x", "value": ""}])
    )
    assert task is not None
    assert (task.key, task.headers) == ("mine/..%2Fjob/a%2Fb", {"x": ""})
