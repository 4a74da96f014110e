"""python-redis-lock."""
import logging
import math
import sys

import redis
import redis_lock
from conversation import converse

logging.disable()  # it says that a lock is taken
client = redis.StrictRedis(port=int(sys.argv[1]))
held = {}


def lock(name, expire, blocking):
    one = redis_lock.Lock(client, name, expire=expire)
    if not one.acquire(blocking=blocking):
        return False
    held[name] = one
    return True


def acquire(name, ttl):
    return lock(name, math.ceil(ttl / 1000), False)


def wait(name):
    """Without an `expire`, it sleeps until somebody gives the lock back."""
    return lock(name, None, True)


def release(name):
    try:
        held.pop(name).release()
        return True
    except redis_lock.NotAcquired:
        return False


converse(acquire=acquire, wait=wait, release=release)
