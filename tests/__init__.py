"""All tests of the platform; a package, so that tests may share servers and sites by import."""
