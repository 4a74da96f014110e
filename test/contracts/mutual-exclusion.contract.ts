import { expect } from '@jest/globals';
import { TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { checkHistory, HistoryRecorder } from '../support/history.js';
import type { LockingProcess, World } from '../support/world.js';

export const mutualExclusion: Contract = {
  async 'a lock that is held is not given to another'(world) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold();
    expect((await b.try(b.request())).kind).toBe('busy');
    expect((await b.ask(b.request())).kind).toBe('queued');
  },

  async 'the same process does not get its own lock twice'(world) {
    const a = await world.client();
    await a.hold();
    expect((await a.try(a.request())).kind).toBe('busy');
  },

  async 'of many who ask at one moment, one gets the lock'(world) {
    const clients = await Promise.all([1, 2, 3, 4].map(() => world.client()));
    const asks = clients.flatMap((client) =>
      Array.from({ length: 10 }, () => client.ask(client.request())),
    );
    const answers = await Promise.all(asks);
    expect(answers.filter(({ kind }) => kind === 'held')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'queued')).toHaveLength(39);
  },

  async 'of many who ask once at one moment, one gets the lock'(world) {
    const client = await world.client();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.try(client.request())),
    );
    expect(answers.filter(({ kind }) => kind === 'held')).toHaveLength(1);
  },

  async 'of many who ask once for several locks at one moment, each lock has one'(world) {
    const client = await world.client();
    const keys = Array.from({ length: 24 }, (_, nth) => `k${nth % 4}`);
    const asks = keys.map((key) => client.request({ key }));
    const answers = await Promise.all(asks.map((ask) => client.try(ask)));
    const held = keys.filter((_, nth) => answers[nth]!.kind === 'held');
    expect(held.sort()).toEqual(['k0', 'k1', 'k2', 'k3']);
  },

  async 'locks of different names do not meet'(world) {
    const client = await world.client();
    await client.hold({ key: 'k' });
    await client.hold({ key: 'k2' });
    await client.hold({ key: '{k}' });
    await client.hold({ key: 'k:x' });
  },

  async 'a lock in its minimum hold is nobody’s'(world) {
    const [a, b] = [await world.client(), await world.client()];
    const { request } = await a.hold();
    expect(await a.lock.release(request, TTL)).toBe(true);
    expect((await b.try(b.request())).kind).toBe('busy');
    expect((await a.lock.extend([request])).remaining).toEqual([world.gone]);
    expect(await a.lock.release(request, 0)).toBe(false);
    await world.pass(TTL);
    await world.until('the minimum hold is over', async () => {
      return (await b.try(b.request())).kind === 'held';
    });
  },

  async 'no two leases overlap, and no update is lost, under contention'(world) {
    const { history, sections, sum } = await contend(world);
    expect(sum).toBe(sections);
    checkHistory(history, { sections });
  },

  async 'no two leases overlap when holders crash'(world) {
    const recorder = new HistoryRecorder(() => world.clock.monotonic());
    const processes = await Promise.all(
      [1, 2, 3].map(() => world.process({ ttl: TTL }, recorder.watch)),
    );
    const [crashing, ...others] = processes as [LockingProcess, ...LockingProcess[]];
    const held = await recorder.acquire(crashing);
    const waits = others.flatMap((process) =>
      [1, 2].map(() => recorder.run(process, { wait: Infinity }, async () => {})),
    );
    const entries = 2 * world.entriesOf(2);
    await world.waiting(entries);
    await crashing.crash();
    crashing.clock.pass(TTL); // it knows that its lease is over before the server lets another in
    await world.silence(-TTL); // who waits has shown itself meanwhile, in whatever order their clocks pass now
    await world.pass(TTL);
    await world.finish(Promise.all(waits));
    held.end();
    checkHistory(recorder.history, { sections: 5 });
  },
};

/** Processes, each with callers that read, wait and write one value without atomic help. */
export async function contend(
  world: World,
  { count = 3, callers = 4 } = {},
): Promise<{ history: HistoryRecorder['history']; sections: number; sum: number }> {
  const recorder = new HistoryRecorder();
  const processes = await Promise.all(
    Array.from({ length: count }, () => world.process({}, recorder.watch)),
  );
  let sum = 0;
  const rounds = 5;
  const work = async (): Promise<void> => {
    const read = sum;
    await new Promise(setImmediate);
    sum = read + 1;
  };
  const caller = async (process: LockingProcess): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) await recorder.run(process, {}, work);
  };
  await world.finish(
    Promise.all(
      processes.flatMap((process) => Array.from({ length: callers }, () => caller(process))),
    ),
  );
  return { history: recorder.history, sections: processes.length * callers * rounds, sum };
}

export const mutualExclusionOnRedis: Contract = {};
