"""redis-py's own Lock, for the tests: a question a line on stdin, an answer a line on stdout."""
import json
import sys

import redis
from redis.exceptions import LockError

client = redis.Redis(port=int(sys.argv[1]))
held = {}


def answer(question):
    name = question.get("name")
    if question["ask"] == "acquire":
        lock = client.lock(name, timeout=question["ttl"] / 1000, blocking=False)
        if not lock.acquire():
            return False
        held[name] = lock
        return True
    if question["ask"] == "release":
        try:
            held.pop(name).release()
            return True
        except LockError:
            return False
    return client.ping()


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
