import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisLockOptions } from '../../lib/index.js';
import { until } from '../support/until.js';
import { Ledger } from './ledger.js';
import type { DrivenPeer } from './peers/driven-peer.js';
import type { Sides } from './sides.js';

const [REPLICAS, CALLERS] = [3, 2];
/** What each replica has before the next one is replaced. */
const TURNS = 5;

/** A process whose callers want one lock again and again, until it is replaced. */
interface Replica {
  turns: number;
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

/** Replicas that are replaced one by one, while the callers of all of them want one lock. */
export class Deployment {
  readonly #ledger: Ledger<string>;
  readonly #replicas: Replica[] = [];

  constructor(
    private readonly sides: Sides,
    private readonly key: string,
  ) {
    this.#ledger = new Ledger(sides.theirs, `value:${key}`);
  }

  theirs(peer: DrivenPeer): Promise<void> {
    return this.#roll(peer.name, async () => {
      const client = await this.sides.peer(peer);
      const turn = async (): Promise<void> =>
        this.#ledger.turn(peer.name, (await client.nextTurn(this.key))!);
      return replica(turn, () => client.close());
    });
  }

  ours(who: string, options: RedisLockOptions): Promise<void> {
    return this.#roll(who, async () => {
      const client = this.sides.client({ fairness: 'local', ...options });
      await client.locks.open();
      const turn = async (): Promise<void> => {
        const lease = await client.acquire(this.key, { wait: '1m' });
        await this.#ledger.section(who, () => lease.release(), lease.fencingToken);
        await sleep(Math.random() * 20);
      };
      return replica(turn, () => client.close());
    });
  }

  /** The last replicas go. */
  async end(): Promise<void> {
    await Promise.all(this.#replicas.map((each) => each.stop()));
    await this.#ledger.check();
  }

  /** Each new replica comes before the old one goes; then each has its turns. */
  async #roll(who: string, start: () => Promise<Replica>): Promise<void> {
    for (let at = 0; at < REPLICAS; at += 1) {
      const old = this.#replicas[at];
      this.#replicas[at] = await start();
      await old?.stop();
      const before = this.#replicas.map(({ turns }) => turns);
      const had = until(
        `each replica has its turns, ${at + 1} of them ${who}`,
        () => this.#replicas.every(({ turns }, nth) => turns >= before[nth]! + TURNS),
        120_000,
      );
      await Promise.race([had, ...this.#replicas.map(({ ended }) => ended)]);
    }
  }
}

/** Its callers take turns until it is told to stop. */
function replica(turn: () => Promise<void>, close: () => Promise<unknown>): Replica {
  let isOver = false;
  const caller = async (): Promise<void> => {
    for (; !isOver; self.turns += 1) await turn();
  };
  const self: Replica = {
    turns: 0,
    ended: Promise.all(Array.from({ length: CALLERS }, caller)),
    async stop() {
      isOver = true;
      await self.ended;
      await close();
    },
  };
  return self;
}
