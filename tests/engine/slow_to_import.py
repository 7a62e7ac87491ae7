"""A module of parsers, without any, that takes longer to import than a page may take that counts as quick."""

import time

from longline.engine.parse.slow_pages import SLOW_PAGE_SECONDS

time.sleep(SLOW_PAGE_SECONDS + 0.5)
