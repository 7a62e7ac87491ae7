"""Combinations of valid settings that contradict each other."""

import pytest

from longline.model.errors import BadInput
from longline.settings.layers import load

ELSEWHERE = "https://search.example.com:9200"


@pytest.mark.parametrize("node", [ELSEWHERE, "http://93.184.216.34:9200", "http://[2606:4700::1111]:9200"])
def test_a_remote_search_node_without_credentials_is_refused(node):
    with pytest.raises(BadInput, match=r"ELASTICSEARCH_ADDRESSES: the search node .* ELASTICSEARCH_API_KEY"):
        load(environ={"ELASTICSEARCH_ADDRESSES": f"http://localhost:9200,{node}"})


@pytest.mark.parametrize(
    "who",
    [
        {"ELASTICSEARCH_API_KEY": "id:key"},
        {"ELASTICSEARCH_USERNAME": "me", "ELASTICSEARCH_PASSWORD": "long enough"},
        {"ELASTICSEARCH_TLS_CERT_FILE": "me.pem", "ELASTICSEARCH_TLS_KEY_FILE": "me.key"},
    ],
)
def test_a_remote_search_node_with_credentials_is_accepted(who):
    assert load(environ={"ELASTICSEARCH_ADDRESSES": ELSEWHERE, **who}).settings.search


@pytest.mark.parametrize(
    "node",
    [
        "http://localhost:9200",
        "http://127.0.0.1:9200",
        "http://[::1]:9200",
        "http://10.1.2.3:9200",
        "http://elasticsearch:9200",
        "http://search.svc.cluster.local:9200",
        "http://search.prod.internal",
    ],
)
def test_a_local_search_node_needs_no_key(node):
    assert load(environ={"ELASTICSEARCH_ADDRESSES": node}).settings.search == (node,)
