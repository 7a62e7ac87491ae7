"""A module without parsers; its import takes longer than a quick page may take."""

import time

from longline.engine.parse.slow_pages import SLOW_PAGE_SECONDS

time.sleep(SLOW_PAGE_SECONDS + 0.5)
