"""A client of the lock protocol, written from docs/protocol.md alone: it queues for a lock held alone, is handed it, renews it and hands it on.

python client.py <port> <folder of the scripts>: a question a line on stdin, an answer a line on stdout.
"""
import json
import os
import random
import re
import secrets
import socket
import sys
import threading
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PREFIX = "lock:"
TIMEOUT = 2_000
LIMIT = 10_000
FIRST_LEASE = 3_000
ASK = (700, 1_000)
ASK_PAUSE = 5
UNANSWERED = (redis.TimeoutError, redis.ConnectionError)


def now():
    return time.monotonic() * 1_000


def keys_of(lock):
    base = lock + "{}" if lock[0] + lock[-1] == "{}" else lock if "{" in lock else "{" + lock + "}"
    queue, seen, holders, version = (f"{base}:{suffix}" for suffix in ("queue", "seen", "holders", "version"))
    return [lock, queue, seen, PREFIX + "{}:fence", holders, version]


class Lease:
    def __init__(self, client, lock, holder, ttl, token):
        self.client, self.lock, self.holder, self.ttl, self.token = client, lock, holder, ttl, token
        self.deadline, self.over, self.woken = 0, False, threading.Event()

    def lasts(self, sent, left):
        self.deadline = sent + left - (left * 0.01 + 2)

    @property
    def held(self):
        return not self.over and now() < self.deadline

    def end(self):
        self.over = True
        self.woken.set()

    def renew(self):
        pause = (self.deadline - now()) / 3
        while True:
            self.woken.wait(max(pause, ASK_PAUSE) / 1_000)
            self.woken.clear()
            if not self.held:
                break
            sent, longest = now(), max(self.ttl, int(self.deadline - now()))
            try:
                left = self.extended(self.ttl)
                if left > longest + 1_000:  # no lease, but a clock that was set back
                    sent = now()
                    left = self.extended(longest, left)
            except redis.RedisError:
                pause = 100
                continue
            if left < 0:
                break
            self.lasts(sent, left)
            pause = left / 3
        self.over = True

    def extended(self, ttl, overlong=""):
        """The ms that are left, or -2 or -3."""
        answer = self.client.extend([self.lock], [self.holder, ttl, overlong])
        return ttl if answer == 1 else answer[0]


class Client:
    def __init__(self, port, scripts):
        # Nothing is sent again by itself, and all on one connection.
        pool = redis.BlockingConnectionPool(1, None, port=port, socket_timeout=TIMEOUT / 1_000, retry=Retry(NoBackoff(), 0), decode_responses=True)
        self.redis = redis.Redis(connection_pool=pool)
        for step in ("acquire", "release", "leave", "extend"):
            setattr(self, step, self.redis.register_script(Path(scripts, step + ".lua").read_text()))
        host = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname())[-40:] or "host"
        self.process = f"{host}.{os.getpid()}.{secrets.token_urlsafe(8)}"
        self.inbox = PREFIX + "inbox:"
        self.waiting, self.told, self.heard, self.leases = None, threading.Event(), threading.Event(), {}
        seconds, micros = self.redis.time()
        self.learn(seconds * 1_000_000 + micros)
        threading.Thread(target=self.listen, args=[port], daemon=True).start()

    def listen(self, port):
        """Hears the inbox, and connects anew when it is lost, or at another server than commands reach. The client asks nothing meanwhile."""
        inbox = self.inbox + self.process
        while True:
            try:
                with redis.Redis(port=port, retry=Retry(NoBackoff(), 0), decode_responses=True).pubsub() as pubsub:
                    pubsub.subscribe(inbox)
                    for message in pubsub.listen():
                        if message["type"] == "message":
                            self.hear(message["data"])
                        elif self.redis.publish(inbox, "hello") == 0:  # it is subscribed, elsewhere
                            break
                        else:
                            self.heard.set()
                            self.told.set()
            except redis.RedisError:
                pass
            self.heard.clear()
            time.sleep(0.1)

    def hear(self, text):
        """A message makes the client ask, whatever it says."""
        word, *words = text.split(" ")
        if word == "granted" and self.waiting and words[0].startswith(self.waiting + "/") or word == "kept":
            self.told.set()
        elif word == "forced":
            for lease in list(self.leases.values()):
                if lease.holder in words:
                    lease.woken.set()

    def learn(self, server):
        self.sample = (server, now())

    def not_after(self):
        server, received = self.sample
        return int(server + (now() - received + TIMEOUT) * 1_000)

    def take(self, name, ttl, wait):
        """The lease; None if it is not had within `wait` ms."""
        lock, end = PREFIX + name, now() + wait
        holder, arrival, unanswered_until = None, "", 0
        while True:
            if holder is None:
                holder, arrival = f"{self.process}/{secrets.token_urlsafe(16)}", ""
                self.waiting = holder
            self.told.clear()
            self.heard.wait()
            sent, not_after, pause = now(), self.not_after(), 100
            try:
                reply = self.acquire(keys_of(lock), [holder, ttl, 1, not_after, self.inbox, LIMIT if wait else 0, arrival])
            except UNANSWERED:
                reply, unanswered_until = ["unanswered", 0, self.sample[0]], now() + TIMEOUT
            kind, left, server, *more = ["held", ttl, reply, 0, reply, 1] if isinstance(reply, int) else reply
            if kind != "unanswered":
                self.learn(server)
            if kind == "held":
                lease = Lease(self, lock, holder, ttl, more[1])
                lease.lasts(sent, left)
                if lease.held:
                    self.leases[name], self.waiting = lease, None
                    threading.Thread(target=lease.renew, daemon=True).start()
                    return lease
                self.give_up(lock, holder, ttl, unanswered_until)
                holder = None
            elif kind == "queued":
                arrival, rank = more[1], more[2]
                pause = min(random.uniform(*ASK), min(ttl, FIRST_LEASE) / 3, left + 1 if rank < 2 and left >= 0 else ASK[1])
            elif kind != "late" and kind != "unanswered":
                self.waiting = None
                return None
            if now() >= end:
                self.waiting = None
                self.give_up(lock, holder, ttl, unanswered_until)
                return None
            self.told.wait(max(min(pause, end - now()), ASK_PAUSE) / 1_000)

    def give_up(self, lock, holder, ttl, until=0):
        while holder:
            asked = now()
            try:
                self.leave(keys_of(lock), [holder, f"{holder}/{ttl}/x1", self.inbox])
                if asked >= until:
                    return
            except UNANSWERED:
                pass
            time.sleep(max(until - now(), 100) / 1_000)

    def give_back(self, name):
        """False if the lock was not its own any more."""
        lease = self.leases.pop(name)
        lease.end()
        for attempt in range(3):
            try:
                reply = self.release(keys_of(lease.lock), [lease.holder, self.inbox])
            except UNANSWERED:
                continue
            for text in reply if isinstance(reply, list) else []:
                self.hear(text)
            if reply == 0:
                self.give_up(lease.lock, lease.holder, lease.ttl)
            return reply != 0 or attempt > 0
        return False

    def answer(self, question):
        ask, name = question["ask"], question.get("name")
        if ask == "acquire":
            lease = self.take(name, question["ttl"], question["wait"])
            return lease and lease.token
        if ask == "release":
            return self.give_back(name)
        if ask == "held":
            return name in self.leases and self.leases[name].held
        return self.process


client = Client(int(sys.argv[1]), sys.argv[2])
for line in sys.stdin:
    print(json.dumps(client.answer(json.loads(line))), flush=True)
