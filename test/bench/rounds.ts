import { Redis } from 'ioredis';
import type { Adapter } from './adapters/index.js';
import { type Figures, figures } from './measure/figures.js';
import { monotonic } from './measure/turn.js';
import type { Worker } from './worker.js';
import type { Workload } from './workloads/index.js';

/** How long a round of one variant lasts, and how often it comes round. */
export interface Effort {
  readonly rounds: number;
  /** Not counted, in ms: caches fill, the compiler warms up. */
  readonly warmUp: number;
  /** Counted, in ms. */
  readonly window: number;
}

/** The figures of each variant, one for each round; null where it cannot do the workload. */
export type Rounds = Map<Adapter, Figures[] | null>;

/** Lets all variants take turns within every round, every second round in the opposite order. */
export async function measure(
  workload: Workload,
  adapters: readonly Adapter[],
  workers: readonly Worker[],
  url: string,
  { rounds, warmUp, window }: Effort,
): Promise<Rounds> {
  const result: Rounds = new Map();
  for (const adapter of adapters) {
    result.set(adapter, workload.contended && !adapter.waits ? null : []);
  }
  const able = adapters.filter((adapter) => result.get(adapter));
  for (let round = 0; round < rounds; round += 1) {
    for (const adapter of round % 2 === 0 ? able : able.toReversed()) {
      result.get(adapter)!.push(await once(workload, adapter, workers, url, { warmUp, window }));
    }
    process.stderr.write('.');
  }
  return result;
}

async function once(
  workload: Workload,
  adapter: Adapter,
  workers: readonly Worker[],
  url: string,
  { warmUp, window }: Pick<Effort, 'warmUp' | 'window'>,
): Promise<Figures> {
  const redis = new Redis(url);
  await redis.flushall();
  await redis.quit();
  const replicas = workers.slice(0, workload.processes);
  await Promise.all(replicas.map((worker) => worker.open(adapter.name, url)));
  const start = monotonic() + 20;
  const from = start + warmUp;
  const span = { start, from, until: from + window };
  const parts = await Promise.all(
    replicas.map((worker, index) => worker.run(workload, index * workload.callers, span)),
  );
  await Promise.all(replicas.map((worker) => worker.close()));
  return figures(workload, parts, span);
}
