"""A module of parsers, without any, that takes longer to import than a page may take that counts as quick."""

import time

from longline.engine.parse.process_pool import QUICK_SECONDS

time.sleep(QUICK_SECONDS + 0.5)
