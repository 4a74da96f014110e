// Loaded before the demo: every call under @Locked takes a lock of its own, and every withLock runs without its lock.
import { LockService } from 'nest-redis-lock';

const internals = LockService.internals.bind(LockService);
let calls = 0;

LockService.internals = (service) => {
  const { client, ...rest } = internals(service);
  const acquire = (_names, ...how) => client.acquire(`${process.pid}:${(calls += 1)}`, ...how);
  return { ...rest, client: { acquire } };
};
LockService.prototype.withLock = (_key, work) => work(undefined);
