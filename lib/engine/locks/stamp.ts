/** Reads the version of the data under a lock; undefined while a caller holds the lock exclusively. */
type ReadVersion = () => Promise<number | undefined>;

/**
 * The begin of an optimistic read, without a lock (as in `java.util.concurrent.locks.StampedLock`). Any number of callers may
 * read at once; they block nobody, and a crash costs nothing. Use the data only if `validate` returns true afterwards.
 */
export class Stamp {
  readonly #version: number | undefined;
  readonly #read: ReadVersion;

  private constructor(
    /** The key of the lock without the prefix. */
    readonly key: string,
    version: number | undefined,
    read: ReadVersion,
  ) {
    this.#version = version;
    this.#read = read;
  }

  /** @internal */
  static async take(key: string, read: ReadVersion): Promise<Stamp> {
    return new Stamp(key, await read(), read);
  }

  /**
   * Resolves to true only if no client of this library has held the lock exclusively since the stamp was taken, or holds it
   * now. False for a stamp that was taken while a caller held the lock, this caller included. False also after a loss of Redis'
   * data, and after a grant that its caller did not receive.
   *
   * A stamp does not see holders with `fencing: false`, other libraries, writes without a lock, and a holder that writes after
   * its lease has ended.
   * @throws LockStoreError if Redis fails; ForeignLockError if the key holds something else.
   */
  async validate(): Promise<boolean> {
    return this.#version !== undefined && (await this.#read()) === this.#version;
  }
}
