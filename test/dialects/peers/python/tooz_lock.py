"""tooz' driver for Redis; one coordinator for each length of a lease, since that is its own."""
import functools
import logging
import math
import sys

from conversation import converse
from tooz import coordination

logging.disable()  # it says what could not be given back
held = {}


@functools.cache
def coordinator(seconds):
    url = f"redis://127.0.0.1:{sys.argv[1]}?lock_timeout={seconds}"
    one = coordination.get_coordinator(url, b"peer")
    one.start()
    return one


def acquire(name, ttl):
    lock = coordinator(math.ceil(ttl / 1000)).get_lock(name.encode())
    if not lock.acquire(blocking=False):
        return False
    held[name] = lock
    return True


def release(name):
    return held.pop(name).release()


converse(acquire=acquire, release=release)
