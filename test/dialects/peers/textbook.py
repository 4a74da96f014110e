"""The client of the SETNX articles in Python, in seconds with a fraction: a command a step, no time to live."""
import json
import sys
import time

import redis

client = redis.Redis(port=int(sys.argv[1]))
ends = {}


def acquire(name, ttl):
    lock = name + "_lock"
    expiry = time.time() + ttl + 1
    if not client.setnx(lock, repr(expiry)):
        seen = client.get(lock)
        if seen is None or float(seen) >= time.time():
            return False
        if client.getset(lock, repr(expiry)) != seen:
            return False
    ends[name] = expiry
    return True


def answer(question):
    name = question.get("name")
    if question["ask"] == "acquire":
        return acquire(name, question["ttl"] / 1000)
    if question["ask"] == "release":
        return time.time() < ends[name] and client.delete(name + "_lock") == 1
    return client.ping()


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
