// Run by tools/hand-off-path.mjs: processes that hand one lock on to each other note when each stage of that is over.
// Prints a JSON object: for each fairness and pause, the medians of the stages in µs, and what Redis takes for a command.
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule, type RedisLockOptions } from '../../lib/index.js';
import { forkChild } from '../../tools/children.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { median } from './median.js';
import { monotonic } from './monotonic.js';

/** What one process does, and for how long, in ms. */
interface Work {
  readonly redis: string;
  readonly fairness: 'local' | 'strict';
  /** Between two sections of a caller. */
  readonly pause: number;
  readonly lasts: number;
}

/** When one section began and ended. Each time is in ms, on the monotonic clock of the machine. */
interface Section {
  readonly process: number;
  readonly granted: number;
  /** When the bytes came that the grant was read from. */
  readonly heard: number;
  released: number;
  /** When the release left for the socket; 0 if none did. */
  written: number;
}

const PROCESSES = 4;
const CALLERS = 4;
/** The part of a run in which code is compiled, which does not count. */
const WARM_UP = 0.3;

async function play({ redis, fairness, pause: rest, lasts }: Work): Promise<Section[]> {
  let heard = 0;
  let releasing: Section | undefined;
  const { emit, write } = Socket.prototype as unknown as Record<
    'emit' | 'write',
    (this: Socket, ...all: unknown[]) => boolean
  >;
  Object.assign(Socket.prototype, {
    emit(this: Socket, ...all: unknown[]) {
      if (all[0] === 'data') heard = monotonic();
      return emit.apply(this, all);
    },
    write(this: Socket, ...all: unknown[]) {
      if (releasing) releasing.written = monotonic();
      releasing = undefined;
      return write.apply(this, all);
    },
  });
  const options: RedisLockOptions = { redis, fairness };
  const root = { module: class Root {}, imports: [RedisLockModule.forRoot(options)] };
  const app = await NestFactory.createApplicationContext(root, { logger: false });
  const locks = app.get(LockService);
  const sections: Section[] = [];
  const end = monotonic() + lasts;
  const caller = async (): Promise<void> => {
    while (monotonic() < end) {
      const lease = await locks.acquire('handed on', { wait: 60_000 });
      const section = {
        process: process.pid,
        granted: monotonic(),
        heard,
        released: 0,
        written: 0,
      };
      sections.push(section);
      await pause(1);
      section.released = monotonic();
      releasing = section;
      await lease.release();
      if (rest > 0) await pause(rest);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await app.close();
  return sections;
}

/** From the release in one process to the grant in another. */
function stages(sections: readonly Section[]): Record<string, number> {
  const inTurn = [...sections].sort((a, b) => a.granted - b.granted);
  const times: Record<string, number[]> = { release: [], redis: [], grant: [], all: [] };
  for (let nth = Math.floor(inTurn.length * WARM_UP) + 1; nth < inTurn.length; nth += 1) {
    const [from, to] = [inTurn[nth - 1]!, inTurn[nth]!];
    if (from.process === to.process || !from.written || to.heard < from.written) continue;
    times['release']!.push(from.written - from.released);
    times['redis']!.push(to.heard - from.written);
    times['grant']!.push(to.granted - to.heard);
    times['all']!.push(to.granted - from.released);
  }
  return Object.fromEntries(
    Object.entries(times).map(([stage, all]) => [stage, Math.round(1_000 * median(all))]),
  );
}

async function measure(work: Omit<Work, 'redis'>): Promise<Record<string, number>> {
  const server = await RedisProcess.start();
  const control = new Redis(server.url);
  const main = fileURLToPath(import.meta.url);
  const players = Array.from({ length: PROCESSES }, async () => {
    const child = forkChild(main, [JSON.stringify({ ...work, redis: server.url })], {});
    const [sections] = (await once(child, 'message')) as [Section[]];
    return sections;
  });
  const found = stages((await Promise.all(players)).flat());
  const stats = await control.info('commandstats');
  const script = Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(stats)?.[1]);
  control.disconnect();
  await server.stop();
  return { ...found, script: Math.round(script) };
}

const [, , work] = process.argv;
if (work) {
  process.send!(await play(JSON.parse(work) as Work), () => process.disconnect());
} else {
  const found: Record<string, unknown> = {};
  for (const fairness of ['local', 'strict'] as const) {
    for (const rest of [0, 10]) {
      const stage = await measure({ fairness, pause: rest, lasts: 8_000 });
      found[`${fairness}, pauses of ${rest} ms`] = stage;
    }
  }
  process.stdout.write(JSON.stringify(found));
}
