"""The client of the SETNX articles in Python: a command a step, no time to live. Told its server's port, and what a value
counts ("float", "s" or "ms"); with "prefix" it reads what a text begins with, as Ruby and PHP do,
with "slow" it takes up to 20 ms from GET to GETSET."""
import random
import re
import sys
import time

import redis
from conversation import converse

client = redis.Redis(port=int(sys.argv[1]))
unit = sys.argv[2] if len(sys.argv) > 2 else "float"
second = 1000 if unit == "ms" else 1
prefix = "prefix" in sys.argv
slow = "slow" in sys.argv
ends = {}


def now():
    moment = time.time() * second
    return moment if unit == "float" else int(moment)


def read(value):
    return float(re.match(rb"[0-9.]*", value).group() or 0) if prefix else float(value)


def acquire(name, ttl):
    lock = name + "_lock"
    expiry = now() + (ttl / 1000 + 1) * second
    if unit != "float":
        expiry = int(expiry) + 1
    if not client.setnx(lock, repr(expiry)):
        seen = client.get(lock)
        if seen is None or read(seen) >= now():
            return False
        if slow:
            time.sleep(random.random() * 0.02)
        if client.getset(lock, repr(expiry)) != seen:
            return False
    ends[name] = expiry
    return True


def release(name):
    return now() < ends[name] and client.delete(name + "_lock") == 1


converse(acquire=acquire, release=release)
