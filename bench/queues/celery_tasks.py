"""Celery with a Redis-compatible broker: as many tasks that do nothing, put in, then worked off. Prints the seconds.

Late acknowledgement, so that a task that was begun is not lost with its worker: the least that can be compared.
"""
# mypy: disable-error-code="import-not-found, untyped-decorator"

import os
import sys
import threading
import time

from celery import Celery
from celery.signals import task_success

URL = sys.argv[1]
COUNT = int(sys.argv[2])

app = Celery("bench", broker=URL)
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=16,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
)


@app.task
def nothing(number: int) -> int:
    """Do nothing."""
    return number


def main() -> None:
    """Put the tasks in, work them off with a pool of threads, and print the time of the second part."""
    with app.pool.acquire(block=True) as connection, app.amqp.Producer(connection) as producer:
        for number in range(COUNT):
            nothing.apply_async((number,), producer=producer)
    done = threading.Event()
    left = [COUNT]
    lock = threading.Lock()

    def count(**_: object) -> None:
        with lock:
            left[0] -= 1
            if not left[0]:
                done.set()

    task_success.connect(count, weak=False)
    worker = app.Worker(pool="threads", concurrency=8, loglevel="ERROR", without_gossip=True, without_mingle=True)
    begun = time.perf_counter()
    threading.Thread(target=worker.start, daemon=True).start()
    done.wait(120)
    print(f"seconds={time.perf_counter() - begun if done.is_set() else 'nan'}", flush=True)


if __name__ == "__main__":
    main()
    # The worker's threads have no other way to end.
    os._exit(0)
