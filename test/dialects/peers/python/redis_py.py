"""redis-py's own Lock; or with "django" that of django-redis, which is the same at a key of the cache's."""
import sys

import redis
from conversation import converse
from redis.exceptions import LockError

server = "redis://127.0.0.1:" + sys.argv[1]
held = {}


def locks():
    """What makes a lock."""
    if "django" not in sys.argv:
        return redis.Redis.from_url(server).lock
    from django.conf import settings

    backend = {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": server, "KEY_PREFIX": "shop"}
    settings.configure(CACHES={"default": backend})
    from django.core.cache import cache

    return cache.lock


lock_of = locks()


def acquire(name, ttl):
    lock = lock_of(name, timeout=ttl / 1000, blocking=False)
    if not lock.acquire():
        return False
    held[name] = lock
    return True


def release(name):
    try:
        held.pop(name).release()
        return True
    except LockError:
        return False


converse(acquire=acquire, release=release)
