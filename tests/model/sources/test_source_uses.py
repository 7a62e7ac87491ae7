"""Uses of sources."""

from longline.model.sources.source_uses import SourceUse, decode_uses, encode_uses, with_use, without_use


def test_uses_are_stored_in_order_and_once():
    both = encode_uses([SourceUse.PRODUCTS, SourceUse.INTERVAL, SourceUse.PRODUCTS])
    assert both == '["interval","products"]'
    assert decode_uses(both) == {SourceUse.PRODUCTS, SourceUse.INTERVAL}
    assert with_use(without_use(both, SourceUse.INTERVAL), SourceUse.CATALOGUE) == '["catalogue","products"]'
    assert without_use('["interval"]', SourceUse.INTERVAL) == "[]"
