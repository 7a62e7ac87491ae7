"""Downloads: files that go from a host to the object store as a stream, their results and their dead letters."""
