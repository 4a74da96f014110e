import { LockStoreError } from '../../errors/index.js';
import type { Clock } from '../../options/index.js';
import { LuaScript, type RedisConnection } from '../../redis/index.js';
import generation from './generation.lua.js';

/** The step by which a server is admitted. */
export const scripts = {
  generation: new LuaScript(generation),
};

/**
 * One life of a server process, from its start to its end: a server that was started or promoted may have
 * forgotten locks that are held. They are over one longest lease after somebody first saw the new life; until
 * then it is in quarantine. A connection never outlives the process at its other end, so each one is asked.
 */
export class Generation {
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
    const { generation } = scripts;
    const left = await connection.run({
      script: generation,
      keys: generation.keyList({ generation: `${this.prefix}{}:generation` }),
      args: generation.argList({ run, quarantine: this.longest }),
      read: Number,
    });
    this.#over = this.clock.monotonic() + left;
  };

  /** The ms that are left of the quarantine; Infinity before the server is known. */
  get quarantine(): number {
    return Math.max(0, this.#over - this.clock.monotonic());
  }

  /** @throws LockStoreError in quarantine. */
  check(key: string): void {
    const { quarantine } = this;
    if (quarantine === 0) return;
    const left = quarantine === Infinity ? 'a while' : `${Math.ceil(quarantine)} ms`;
    throw new LockStoreError(
      `Lock "${key}": this Redis was started or promoted and may have forgotten locks that are held. None is granted for another ${left} (option "durability").`,
      { key, outcome: 'unsent' },
    );
  }

  /** What a start-up log says; nothing when the quarantine is over. */
  get warnings(): string[] {
    const { quarantine } = this;
    if (quarantine === 0 || quarantine === Infinity) return [];
    return [
      `No lock is granted for the next ${Math.ceil(quarantine)} ms: this Redis was started or promoted, or is new to option "durability".`,
    ];
  }
}
