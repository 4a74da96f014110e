// Run by test/unit/throwing-subscribers.spec.ts: every channel of the library has a subscriber that throws. Prints what came of
// the locks, and what Node.js did with the errors.
import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type LockEventName, lockChannels } from '../../lib/engine/events/index.js';
import { ManualClock, MemoryServer, memoryLockService } from '../../lib/memory/testing/index.js';

Logger.overrideLogger(false);

const uncaught: Record<string, number> = {};
process.on('uncaughtException', ({ message }) => {
  uncaught[message] = (uncaught[message] ?? 0) + 1;
});

const fails = (name: string) => (): never => {
  throw new Error(name);
};
const { acquire, hold, ...plain } = lockChannels;
for (const name of Object.keys(plain) as LockEventName[]) plain[name].subscribe(fails(name));
for (const [name, traced] of Object.entries({ acquire, hold })) {
  const steps = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
  for (const step of steps) traced[step].subscribe(fails(`${name}:${step}`));
}
acquire.start.bindStore(new AsyncLocalStorage() as never, fails('bindStore') as never);

const clock = new ManualClock();
const server = new MemoryServer(clock);
const [locks, other] = [memoryLockService({ clock, server }), memoryLockService({ clock, server })];

const came: unknown[] = [];
came.push(await locks.withLock('k', async (lease) => lease.held));
const lease = await locks.acquire('k');
came.push(await locks.acquire('k', { wait: 0 }).catch(({ code }) => code));
const waiting = other.acquire('k');
await clock.advance(10);
came.push(await lease.release(), (await waiting).held);
const restored = await locks.restore(await (await waiting).handOver());
await other.forceRelease('k');
await clock.advance(10);
came.push(restored.signal.reason.reason);
came.push(await (await locks.acquire(['k', 'l'])).release());
await nextTurn();
process.stdout.write(JSON.stringify({ came, uncaught }));
