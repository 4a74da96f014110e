// What the benchmark uses of its peers, which `npm run bench` alone installs.

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

declare module '@sesamecare-oss/redlock' {
  export { default as Redlock, ExecutionError } from 'redlock-5';
}

declare module 'redlock-universal' {
  import type { Redis } from 'ioredis';

  interface Lock<Handle> {
    acquire(): Promise<Handle>;
    release(handle: Handle): Promise<boolean>;
    using(routine: () => Promise<void>): Promise<unknown>;
  }
  export class LockAcquisitionError extends Error {}
  export class IoredisAdapter {
    static from(client: Redis): IoredisAdapter;
  }
  export function createLock(options: object): Lock<object>;
  export function createRedlock(options: object): Lock<object>;
}
