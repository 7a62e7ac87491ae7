"""Series of a catalogue, their targets on sources, and the runs that crawl them."""
