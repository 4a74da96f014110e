import { LockStoreError, ReplicasNotReachedError } from '../errors/index.js';
import type { ReplicaSettings } from '../options/index.js';
import type { RedisConnection } from './redis-connection.js';
import { alike, type ScriptRun } from './lua-script.js';
import { InFlightRun } from './script-batch.js';
import { notSent, unconfirmed } from './store-failure.js';

/**
 * Runs scripts whose answers count only when replicas have their writes: one WAIT behind the scripts of one tick, in the
 * same write. Scripts that come while a WAIT is in flight leave when it is answered, so replicas that are down hold up no
 * script for longer than one time-out.
 */
export class ReplicaAcks {
  #gathered: InFlightRun[] = [];
  #isRunning = false;

  constructor(
    private readonly connection: RedisConnection,
    private readonly replicas: ReplicaSettings,
  ) {}

  /** Runs a script; with `run.unconfirmed`, for an answer that counts only when replicas have its writes. */
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    if (!run.unconfirmed) return this.connection.run(run);
    const inFlight = new InFlightRun(run as ScriptRun<unknown>, this.connection.clock.monotonic());
    this.#gathered.push(inFlight);
    if (!this.#isRunning) {
      this.#isRunning = true;
      process.nextTick(() => void this.#goOn());
    }
    return inFlight.promise as Promise<Answer>;
  }

  async #goOn(): Promise<void> {
    while (this.#gathered.length > 0) {
      const turns = this.#gathered;
      this.#gathered = [];
      await this.#take(turns);
    }
    this.#isRunning = false;
  }

  async #take(turns: readonly InFlightRun[]): Promise<void> {
    let again = false;
    const sentAgain = (): void => {
      again = true; // a run that is sent again comes after the WAIT
    };
    const settled = Promise.allSettled(
      turns.map(({ run }) => this.#send(alike(run, { sentAgain }))),
    );
    let errorOf = await this.#wait();
    const answers = await settled;
    if (again) errorOf = await this.#wait();
    for (const [at, answer] of answers.entries()) {
      const { run, resolve, reject } = turns[at]!;
      if (answer.status === 'rejected') reject(answer.reason);
      else if (!errorOf) resolve(answer.value);
      else {
        try {
          resolve(run.unconfirmed!(answer.value, errorOf(run.key)));
        } catch (refusal) {
          reject(refusal);
        }
      }
    }
  }

  #send(run: ScriptRun<unknown>): Promise<unknown> {
    if (run.wanted?.() === false) return Promise.reject(notSent(run.key, 'the caller gave up'));
    return this.connection.run(run);
  }

  /** Resolves once replicas have all writes of this connection; else to the error of a run, by its key. */
  async #wait(): Promise<((key: string | undefined) => Error) | undefined> {
    const { acks, timeout } = this.replicas;
    let reached = 0;
    try {
      reached = Number(await this.connection.send('wait', [acks, timeout]));
    } catch (error) {
      if (error instanceof LockStoreError && !error.retryable) {
        return (key) => unconfirmed(key, error);
      }
    }
    if (reached >= acks) return undefined;
    return (key) => new ReplicasNotReachedError(key, { ...this.replicas, reached });
  }
}
