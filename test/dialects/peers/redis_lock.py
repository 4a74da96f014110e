"""python-redis-lock 4.0.0 by its source, for the tests: a question a line on stdin, an answer a line on stdout."""
import base64
import json
import math
import os
import sys

import redis

UNLOCK = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 1
end
redis.call('DEL', KEYS[2])
redis.call('LPUSH', KEYS[2], 1)
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[1])
return 0
"""

client = redis.Redis(port=int(sys.argv[1]))
held = {}


def acquire(name, expire, blocking):
    """SET NX; who blocks pops the signal, for `expire` seconds or for ever, and asks again."""
    token = base64.b64encode(os.urandom(18))
    while not client.set("lock:" + name, token, nx=True, ex=expire):
        if not blocking:
            return False
        client.blpop("lock-signal:" + name, expire or 0)
    held[name] = token
    return True


def answer(question):
    name = question.get("name")
    if question["ask"] == "acquire":
        return acquire(name, math.ceil(question["ttl"] / 1000), False)
    if question["ask"] == "wait":
        return acquire(name, None, True)
    if question["ask"] == "release":
        keys = ("lock:" + name, "lock-signal:" + name)
        return client.eval(UNLOCK, 2, *keys, held.pop(name), 1000) == 0
    return client.ping()


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
