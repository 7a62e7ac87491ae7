"""Parts of the platform that several commands need, put together."""
