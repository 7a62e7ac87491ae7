"""Use cases of series, their targets and the runs that crawl them."""
