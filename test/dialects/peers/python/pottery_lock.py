"""pottery's Redlock, on one server or on each of several."""
import logging
import sys

from conversation import converse
from pottery import Redlock, ReleaseUnlockedLock
from redis import Redis

logging.disable()  # it says which server is down
masters = {Redis(port=int(port)) for port in sys.argv[1].split(",")}
held = {}


def acquire(name, ttl):
    lock = Redlock(key=name, masters=masters, auto_release_time=ttl / 1000)
    if not lock.acquire(blocking=False):
        return False
    held[name] = lock
    return True


def release(name):
    try:
        held.pop(name).release()
        return True
    except ReleaseUnlockedLock:
        return False


converse(acquire=acquire, release=release)
