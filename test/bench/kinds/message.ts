import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { COMPARE_AND_DELETE } from '../adapters/raw.js';
import { monotonic } from '../measure/monotonic.js';
import { median } from '../measure/statistics.js';
import { at } from '../measure/window.js';
import type { MessageWorkload } from '../workloads/workload.js';
import type { Kind, Part, Seat } from './kind.js';

const CHANNEL = 'bench:message:';

interface Delays extends Part {
  /** From PUBLISH until the message, in ms. */
  readonly messages: number[];
  /** A script's round trip, in ms. */
  readonly scripts: number[];
}

/** The first process sends messages to the others in turn, and asks for a script now and then. */
export const message: Kind<MessageWorkload, Delays> = {
  long: false,
  timing: (_, { warmUp, window }) => ({ warmUp, window }),
  refuses: () => undefined,
  play: (_, seat) => (seat.index === 0 ? send(seat) : receive(seat)),

  figures(_, parts) {
    const messageP50 = median(parts.flatMap(({ messages }) => messages));
    const scriptP50 = median(parts.flatMap(({ scripts }) => scripts));
    return { messageP50, scriptP50, acrossP50: messageP50 + scriptP50 };
  },

  measures: () => [],
};

async function receive({ url, index, window }: Seat<MessageWorkload>): Promise<Delays> {
  const messages: number[] = [];
  const redis = new Redis(url);
  redis.on('message', (_: string, sent: string) => {
    if (Number(sent) >= window.from) messages.push(monotonic() - Number(sent));
  });
  await redis.subscribe(CHANNEL + index);
  await at(window.until);
  await redis.quit();
  return { messages, scripts: [], unfinished: 0 };
}

async function send({ url, workload, window }: Seat<MessageWorkload>): Promise<Delays> {
  const scripts: number[] = [];
  const redis = new Redis(url);
  const sha = createHash('sha1').update(COMPARE_AND_DELETE).digest('hex');
  await redis.script('LOAD', COMPARE_AND_DELETE);
  await at(window.start);
  for (let turn = 0; monotonic() < window.until; turn += 1) {
    await pause(workload.rest);
    await redis.publish(CHANNEL + (1 + (turn % (workload.processes - 1))), String(monotonic()));
    await pause(workload.rest);
    const sent = monotonic();
    await redis.evalsha(sha, 1, 'bench:message', '');
    if (sent >= window.from) scripts.push(monotonic() - sent);
  }
  await redis.quit();
  return { messages: [], scripts, unfinished: 0 };
}
