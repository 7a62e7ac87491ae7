from longline.model.storable_text import storable


def test_text_is_stored_without_nul_and_half_characters():
    assert storable("a\0b") == "ab"
    assert storable("a\0b", " ") == "a b"
    assert storable("half \ud800 of é") == "half ? of é"
