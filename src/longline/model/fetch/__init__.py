"""Fetching: robots.txt, cookies, content encodings and the addresses that may be reached."""
