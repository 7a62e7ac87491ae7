"""Every test of the house; a package, so that tests may share servers and sites by import."""
