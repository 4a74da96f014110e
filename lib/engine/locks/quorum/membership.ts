import { LockOptionsError, LockStoreError } from '../../errors/index.js';
import type { Clock } from '../../options/index.js';
import type { RedisServer } from '../../redis/index.js';
import { majorityOf, notReached } from './ballot.js';

/** How long start-up waits for further servers after a majority has joined, in ms. */
export const GRACE = 500;
/** The pause before an unusable server is tried again, in ms. */
const PAUSE = 1_000;

/** The servers of a quorum, and how they join: a majority at start-up, the others as soon as they can. No server counts twice. */
export class Membership {
  readonly #members = new Set<RedisServer>();
  readonly #pauses = new Set<() => void>();
  #closed = false;

  constructor(
    private readonly servers: readonly RedisServer[],
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when a majority can be used.
   * @throws QuorumNotReachedError without a majority; LockOptionsError if a server is listed twice. No connection stays open
   * then.
   */
  async open(reconnected: () => void): Promise<void> {
    this.#closed = false;
    try {
      await this.#majority(reconnected);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#pauses) cancel();
    this.#pauses.clear();
    this.#members.clear();
    await Promise.all(this.servers.map((server) => server.close()));
  }

  #majority(reconnected: () => void): Promise<void> {
    const nodes = this.servers.length;
    const majority = majorityOf(nodes);
    let pending = nodes;
    return new Promise((resolve, reject) => {
      let started = false;
      let grace: (() => void) | undefined;
      const start = (): void => {
        started = true;
        grace?.();
        resolve();
      };
      const settled = (): void => {
        pending -= 1;
        const granted = this.#members.size;
        if (pending > 0) {
          if (granted >= majority && !started) grace ??= this.clock.after(GRACE, start); // several may have joined at once
          return;
        }
        if (granted >= majority) return start();
        reject(notReached(undefined, { nodes, granted, denied: 0 }));
      };
      for (const server of this.servers) {
        this.#join(server, reconnected).then(settled, (error: unknown) => {
          const final = error instanceof LockStoreError ? !error.retryable : true;
          if (final && !started) reject(error);
          if (!final || started) this.#joinLater(server, reconnected);
          settled();
        });
      }
    });
  }

  /** @throws LockOptionsError if another member is the same server. */
  async #join(server: RedisServer, reconnected: () => void): Promise<void> {
    await server.open({ message() {}, reconnected });
    if (this.#closed) return server.close();
    const twin = [...this.#members].find(
      ({ runId }) => runId !== undefined && runId === server.runId,
    );
    if (!twin) return void this.#members.add(server);
    const [one, other] = [twin.describe().found, server.describe().found];
    await server.close();
    throw new LockOptionsError(
      `Option "nodes" lists one server twice: ${one} and ${other} have the same run id. A quorum needs independent servers.`,
    );
  }

  #joinLater(server: RedisServer, reconnected: () => void): void {
    if (this.#closed) return;
    const cancel = this.clock.after(PAUSE, () => {
      this.#pauses.delete(cancel);
      this.#join(server, reconnected).then(reconnected, () => this.#joinLater(server, reconnected));
    });
    this.#pauses.add(cancel);
  }
}
