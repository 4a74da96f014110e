import type { Database } from './database.js';

interface HasDatabase {
  readonly database: Database;
}

/** Runs the method in a transaction of its service's database. */
export function Transactional() {
  return <Args extends unknown[], Result>(
    _target: HasDatabase,
    _name: string,
    descriptor: TypedPropertyDescriptor<(...args: Args) => Promise<Result>>,
  ): void => {
    const method = descriptor.value!;
    descriptor.value = function (this: HasDatabase, ...args) {
      return this.database.transaction(() => method.apply(this, args));
    } as typeof method;
  };
}
