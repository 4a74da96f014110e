/** Asks for the version of what the lock guards; undefined while somebody holds it exclusively. */
type Look = () => Promise<number | undefined>;

/**
 * A moment at which one began to read without a lock (`StampedLock`'s optimistic read). Any number may, nobody
 * waits for them, and they keep nobody from anything: a crash costs nothing. What was read counts only if the
 * stamp validates afterwards.
 */
export class Stamp {
  readonly #version: number | undefined;
  readonly #look: Look;

  private constructor(
    /** The lock's key, without prefix. */
    readonly key: string,
    version: number | undefined,
    look: Look,
  ) {
    this.#version = version;
    this.#look = look;
  }

  /** @internal */
  static async take(key: string, look: Look): Promise<Stamp> {
    return new Stamp(key, await look(), look);
  }

  /**
   * True only if no client of ours has held the lock exclusively since the stamp was taken, or does so now. Never
   * true for a stamp that was taken while somebody held it, this caller included. False as well when Redis has
   * lost its data meanwhile, or when a waiter was granted the lock and could not be told.
   *
   * Not seen: holders with `fencing: false`, other libraries, plain writes, and a holder that still writes after
   * its lease is over.
   * @throws LockStoreError when Redis fails; ForeignLockError when something else lives at the key.
   */
  async validate(): Promise<boolean> {
    return this.#version !== undefined && (await this.#look()) === this.#version;
  }
}
