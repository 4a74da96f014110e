import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../tools/redis-server.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { type Reign, reignsIn } from '../support/reigns.js';
import { Replica } from '../support/replica.js';
import { until } from '../support/until.js';

/** Three replicas that stand in one election, on a Redis that keeps its data. */
export class Election {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-reigns-'));
  readonly #history = join(this.#folder, 'history');
  readonly observer: Observer;
  #replicas: Replica[] = [];

  private constructor(
    readonly redis: RedisProcess,
    private readonly ttl: number,
  ) {
    this.observer = new Observer(redis.url);
  }

  static async start(ttl: number): Promise<Election> {
    const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
    const election = new Election(await RedisProcess.start({ args }), ttl);
    await Promise.all([1, 2, 3].map(() => election.add()));
    return election;
  }

  /** One more replica stands. */
  async add(): Promise<void> {
    const options = { redis: this.redis.url, ttl: this.ttl, history: this.#history };
    this.#replicas.push(await Replica.start('leader-replica', options));
  }

  get reigns(): Reign[] {
    return existsSync(this.#history) ? reignsIn(this.#history) : [];
  }

  /** Whoever leads at this moment, once somebody does after `since`, under a token above `above`. */
  reign(since: number, above = 0): Promise<Reign> {
    return until('somebody leads', () => {
      const latest = this.reigns.at(-1);
      return latest && latest.token > above && latest.last > since ? latest : undefined;
    });
  }

  /** Who leads while both others wait in the queue. */
  async settled(): Promise<Reign> {
    const leader = await this.reign(monotonic());
    await this.queued(2);
    return leader;
  }

  /** So many replicas do not lead and wait in the queue. */
  queued(count: number): Promise<void> {
    return this.observer.queued('leader:feed', count);
  }

  replicaOf({ pid }: Reign): Replica {
    return this.#replicas.find((replica) => replica.pid === pid)!;
  }

  async kill(leader: Reign): Promise<void> {
    await this.replicaOf(leader).kill();
    this.#replicas = this.#replicas.filter(({ pid }) => pid !== leader.pid);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.kill()));
    this.observer.close();
    await this.redis.stop();
    rmSync(this.#folder, { recursive: true });
  }
}
