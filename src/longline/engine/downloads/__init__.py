"""Downloads: files that go from their host to the object store as a stream."""
