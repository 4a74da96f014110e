import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import type { Ioredis } from './adapters/index.js';
import { Worker } from './worker.js';

/** The processes that play replicas. */
export class Fleet {
  #workers: Worker[] = [];

  /** @param redisPids The servers they use: they are kept apart from a replica that is alone. */
  constructor(private readonly redisPids: readonly number[]) {}

  /** So many processes on this major of ioredis, all new if `fresh`. A single one and the servers get a processor each: how the kernel pairs them would decide otherwise. */
  take(count: number, ioredis: Ioredis = 6, fresh = false): Worker[] {
    const able = fresh ? [] : this.#workers.filter((worker) => worker.ioredis === ioredis);
    while (able.length < count) {
      const worker = new Worker(ioredis);
      this.#workers.push(worker);
      able.push(worker);
    }
    const workers = able.slice(0, count);
    const alone = count === 1 && cpus().length > 1;
    this.#place(
      workers.map(({ pid }) => pid),
      alone,
    );
    return workers;
  }

  /** Places another process as a single replica is placed. */
  placeAlone(pid: number): void {
    this.#place([pid], cpus().length > 1);
  }

  /** Ends processes whose callers would go on. */
  retire(retired: readonly Worker[]): void {
    for (const worker of retired) worker.stop();
    this.#workers = this.#workers.filter((worker) => !retired.includes(worker));
  }

  stop(): void {
    this.retire(this.#workers);
  }

  #place(pids: readonly number[], alone: boolean): void {
    const all = `0-${cpus().length - 1}`;
    for (const pid of this.redisPids) pin(pid, alone ? '0' : all);
    for (const pid of pids) pin(pid, alone ? '1' : all);
  }
}

/** Where the system has no taskset, the kernel decides. */
function pin(pid: number, processors: string): void {
  try {
    execFileSync('taskset', ['-acp', processors, String(pid)], { stdio: 'ignore' });
  } catch {
    // measured all the same
  }
}
