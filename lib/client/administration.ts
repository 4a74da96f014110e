import type { NameSearch } from '../locks/lock-names.js';
import type { LockStore, Sight } from '../locks/lock-primitive.js';
import type { DialectSettings } from '../options/index.js';

/** How many locks are looked at in one go, so that others have their turn between. */
const AT_ONCE = 100;

/** What an operator does to locks, whichever process holds them. */
export class Administration {
  constructor(
    private readonly store: LockStore,
    private readonly open: () => Promise<void>,
  ) {}

  /** `places`: how many waiters, or holders, it names. */
  async inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    await this.open();
    return this.store.lock.inspect(key, places, dialect);
  }

  /** The locks that are not free, as {@link inspect} sees each. */
  async list(search: NameSearch, places: number): Promise<[key: string, sight: Sight][]> {
    await this.open();
    const names = await this.store.names(search);
    const found: [string, Sight][] = [];
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const look = async (key: string): Promise<[string, Sight]> => [
        key,
        await this.inspect(key, places, search.dialect),
      ];
      found.push(...(await Promise.all(names.slice(at, at + AT_ONCE).map(look))));
    }
    return found.filter(([, { type }]) => type !== 'none');
  }

  /** Takes the lock from its holder. False if it has none. */
  async force(key: string, dialect?: DialectSettings): Promise<boolean> {
    await this.open();
    return this.store.lock.force(key, dialect);
  }
}
