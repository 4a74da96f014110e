// What the benchmark uses of peers that ship no types a Node resolution finds.

declare module 'redlock-4' {
  import type { Redis } from 'ioredis';

  export default class Redlock {
    static LockError: new () => Error;
    constructor(clients: Redis[], options: object);
    lock(key: string, ttl: number): Promise<{ unlock(): Promise<void> }>;
  }
}

declare module 'redlock-5' {
  import type { Redis } from 'ioredis';

  export class ExecutionError extends Error {}
  export default class Redlock {
    constructor(clients: Redis[], settings: object);
    acquire(keys: string[], ttl: number): Promise<{ release(): Promise<unknown> }>;
    using(keys: string[], ttl: number, routine: () => Promise<void>): Promise<unknown>;
  }
}
