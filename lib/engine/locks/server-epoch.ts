import { LockStoreError } from '../errors/index.js';
import type { Clock } from '../options/index.js';
import { named, type RedisConnection } from '../redis/index.js';
import { msOf } from './reply.js';
import serverEpoch from './server-epoch.lua.js';

/** The script that admits a server. */
export const scripts = named('store', { serverEpoch });

/** The key of the mark that identifies a server process. No lock has this key, as no name has empty braces. */
export function epochKey(prefix: string): string {
  return `${prefix}{}:generation`;
}

/**
 * The life of one server process, from its start to its end. A server that was started or promoted may have forgotten held
 * locks, whose leases are over one longest lease after somebody first saw the new epoch. Until then the server is in its grace
 * period, and grants nothing. A connection never outlives the process at its other end, so each new connection is asked.
 */
export class ServerEpoch {
  #over = Infinity;

  constructor(
    /** The prefix of the module's keys. */
    private readonly prefix: string,
    /** The longest lease, in ms. */
    private readonly longest: number,
    private readonly clock: Clock,
  ) {}

  /** Identifies the server of a new connection. @throws LockStoreError without the right to INFO. */
  readonly admit = async (connection: RedisConnection): Promise<void> => {
    this.#over = Infinity;
    const info = String(await connection.send('info', ['server']));
    const run = /^run_id:(\w+)/m.exec(info)?.[1];
    if (run === undefined) {
      throw new LockStoreError(
        'Option "durability" is \'refuse\', but INFO does not tell the run id of this Redis.',
        { outcome: 'refused', retryable: false },
      );
    }
    const { serverEpoch } = scripts;
    const left = await connection.run({
      script: serverEpoch,
      keys: serverEpoch.keyList({ epoch: epochKey(this.prefix) }),
      args: serverEpoch.argList({ run, grace: this.longest }),
      read: msOf,
    });
    this.#over = this.clock.monotonic() + left;
  };

  /** The ms left of the grace period; Infinity before the server is known. */
  get gracePeriod(): number {
    return Math.max(0, this.#over - this.clock.monotonic());
  }

  /** @throws LockStoreError in the grace period. */
  check(key: string): void {
    const { gracePeriod } = this;
    if (gracePeriod === 0) return;
    const left = gracePeriod === Infinity ? 'a while' : `${Math.ceil(gracePeriod)} ms`;
    throw new LockStoreError(
      `Lock "${key}": this Redis was started or promoted and may have forgotten locks that are held. None is granted for another ${left} (option "durability").`,
      { key, outcome: 'unsent' },
    );
  }

  /** Warnings for the start-up log; none after the grace period. */
  get warnings(): string[] {
    const { gracePeriod } = this;
    if (gracePeriod === 0 || gracePeriod === Infinity) return [];
    return [
      `No lock is granted for the next ${Math.ceil(gracePeriod)} ms: this Redis was started or promoted, or is new to option "durability".`,
    ];
  }
}
