import { expect } from '@jest/globals';
import { once } from 'node:events';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { Share } from '../../lib/engine/options/index.js';
import type { Client } from '../support/client.js';
import type { World } from '../support/world.js';

/** What the promise names, where there is time for it. */
const FULL = process.env['FULL'] !== undefined;
export const AWAITING = FULL ? 10_000 : 1_000;
export const WAITING = FULL ? 5_000 : 600;
/** As many as may await; whoever signals is in nobody's way. */
export const limits = { waitersPerKey: AWAITING };
/** How many callers are sent for at once. */
export const BATCH = 250;

/** So many that take the lock and await the condition, one behind the other. */
export async function crowd(
  client: Client,
  count: number,
  name = 'changed',
): Promise<LockRequest[]> {
  const requests: LockRequest[] = [];
  while (requests.length < count) {
    const more = Array.from({ length: Math.min(BATCH, count - requests.length) }, () => {
      const former = client.request();
      const request = client.request({ ttl: 60_000 });
      return { former, request: { ...request, condition: { name, over: false } } };
    });
    const answers = await Promise.all(
      more.flatMap(({ former, request }) => [
        client.ask(former, { enqueuedAt: '1' }), // a further ask: it is one step, and the next one follows it
        client.ask(request, { former }),
      ]),
    );
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['held', 'queued']));
    requests.push(...more.map(({ request }) => request));
  }
  return requests;
}

/** So many entries in the queue of a lock that somebody holds. */
export async function queue(client: Client, count: number, share: Share): Promise<LockRequest[]> {
  const requests = Array.from({ length: count }, () => client.request({ share, ttl: 60_000 }));
  for (let at = 0; at < count; at += BATCH) {
    await Promise.all(requests.slice(at, at + BATCH).map((request) => client.ask(request)));
  }
  return requests;
}

/** Each that is granted gives the lock to the next; resolves to the order in which so many held it. */
export async function served(
  world: World,
  client: Client,
  count: number,
  from = 0,
): Promise<string[]> {
  await world.silence(-60_000); // on a busy machine this takes longer than a process that waits may be silent
  for (let at = from; at < count; at += 1) {
    if (!client.grants[at]) {
      await world.until(`${at + 1} are granted`, () => client.grants.length > at);
    }
    const { condition: _, ...request } = client.grants[at]!.request;
    await client.lock.release(request, 0);
  }
  return client.grants.map(({ request }) => request.holder);
}

/** What one script sent to Redis: its commands with their operands. */
export type Script = string[][];

/** The scripts that run on the server while `work` does. */
export async function scriptsOf(world: World, work: () => Promise<unknown>): Promise<Script[]> {
  const { control } = world.redis!;
  const monitor = await control.monitor();
  const scripts: Script[] = [];
  const noted = (command: string[], source: string): void => {
    if (source === 'lua') scripts.at(-1)!.push(command);
    else if (/^eval/i.test(command[0]!)) scripts.push([]);
  };
  monitor.on('monitor', (_time, command: string[], source: string) => noted(command, source));
  try {
    await work();
    const end = once(monitor, 'monitor');
    await control.echo('the end');
    await end;
  } finally {
    monitor.disconnect();
  }
  return scripts;
}

export function countOf(script: Script, name: string): number {
  return script.filter(([command]) => command!.toLowerCase() === name).length;
}

/** How much Redis has to do in a script: its commands, and each of their operands. */
export function workOf(script: Script): number {
  return script.flat().length;
}
