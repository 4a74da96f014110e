import { LockStoreError } from '../errors/index.js';
import type { Clock } from '../options/index.js';
import { LuaScript, named, type RedisConnection } from '../redis/index.js';
import { msOf } from './reply.js';
import serverEpoch from './server-epoch.lua.js';

/** The step by which a server is admitted. */
export const scripts = named('store', { serverEpoch: new LuaScript(serverEpoch) });

/** The key of the mark by which a server is known again: of no lock, as none has empty braces. */
export function epochKey(prefix: string): string {
  return `${prefix}{}:generation`;
}

/**
 * The life of one server process, from its start to its end: a server that was started or promoted may have
 * forgotten locks that are held. They are over one longest lease after somebody first saw the new epoch; until
 * then lasts its grace period, in which it grants nothing. A connection never outlives the process at its other end, so each one is asked.
 */
export class ServerEpoch {
  #over = Infinity;

  constructor(
    /** No lock's name: none has empty braces. */
    private readonly prefix: string,
    /** The longest lease, in ms. */
    private readonly longest: number,
    private readonly clock: Clock,
  ) {}

  /** Looks at the server of a new connection. @throws LockStoreError without the right to INFO. */
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

  /** The ms that are left of the grace period; Infinity before the server is known. */
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

  /** What a start-up log says; nothing when the grace period is over. */
  get warnings(): string[] {
    const { gracePeriod } = this;
    if (gracePeriod === 0 || gracePeriod === Infinity) return [];
    return [
      `No lock is granted for the next ${Math.ceil(gracePeriod)} ms: this Redis was started or promoted, or is new to option "durability".`,
    ];
  }
}
