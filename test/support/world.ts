import type { Redis } from 'ioredis';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { newProcessId } from '../../lib/engine/locks/holder.js';
import type { LockStore, Snapshot } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import {
  type AcquireOptions,
  type Clock,
  callSettings,
  type ModuleSettings,
  moduleSettings,
  type RedisLockOptions,
  type Share,
} from '../../lib/engine/options/index.js';
import { PATIENCE } from './bounds.js';
import { Client } from './client.js';
import { deaf } from './deaf.js';
import type { Kind } from './kinds.js';
import { StallingClock } from './stalling-clock.js';

/** A change to a store: a fault on the way, a planted mistake, an observer. */
export type Wrap = (store: LockStore, clock: StallingClock) => LockStore;

/** One server and the processes on it, for one test. */
export abstract class World {
  abstract readonly clock: Clock;
  /** Where the store is a Redis: a connection to look at it, and the prefix before a lock's key. */
  readonly redis?: { readonly control: Redis; readonly prefix: string };
  /** Whether the store knows that nobody heard a push: not where another of its nodes may tell it on. */
  readonly hearsItself: boolean = true;
  /** Whether replicas confirm each grant, a pushed one before its process hears of it. */
  readonly confirms: boolean = false;
  /** How the processes of this world share their turns. */
  fairness: 'local' | 'strict';
  /** How long `until` waits, in ms of this world's time. */
  patience = PATIENCE;
  /** Those of its processes. */
  protected readonly clocks: StallingClock[] = [];
  protected readonly started: LockingProcess[] = [];
  /** Its time is over: what a check that failed has left under way goes no further. */
  #closed = false;
  readonly #closing: (() => Promise<void>)[] = [];
  #observer: Promise<Client> | undefined;

  constructor(
    private readonly kind: Kind,
    private readonly wrap: Wrap = (store) => store,
  ) {
    this.fairness = kind.share ? 'strict' : 'local';
  }

  /** What is left of a lease that ended while another holds the lock. */
  get gone(): 'taken' | 'free' {
    return this.kind.share ? 'free' : 'taken';
  }

  /** How many entries so many waiting callers of one process take in the queue of a lock. */
  entriesOf(callers: number): number {
    return this.fairness === 'strict' ? callers : Math.min(1, callers);
  }

  /** Resolves when `condition` is true; fails after `patience`. */
  abstract until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
  /** This much time passes, for everybody. */
  abstract elapse(ms: number): Promise<void>;
  /** So much time passes for its processes and for what its server keeps; nobody waits for it, also not on a real server. */
  abstract pass(ms: number): Promise<void>;
  /** As `pass`, where no living process holds anything: clocks go before the server, so that no grant in between grows old. */
  abstract outlive(ms: number): Promise<void>;
  /** As if nobody had asked for any lock for `ms`. */
  abstract silence(ms: number): Promise<void>;
  /** What is held, and who waits, lives longer from now on: on a real server a slow machine may take its time. */
  async noHurry(): Promise<void> {}

  /** Resolves when a client has heard of its grant, whose first lease is in no hurry then. */
  async told(client: Client, request: LockRequest): Promise<void> {
    await this.until(`${request.holder} is told`, () => client.granted(request) !== undefined);
    await this.noHurry();
  }

  /** The server loses all data. */
  abstract flush(): Promise<void>;
  /** The server answers nobody until `resume`; what is sent meanwhile runs then. */
  abstract pause(): Promise<void>;
  abstract resume(): Promise<void>;
  /** Somebody else puts a value of this Redis type at the name of a lock, without an end. */
  abstract plant(key: string, type: string): Promise<void>;
  /** Every key in the store, with what is left of it in ms; -1 if it never ends. */
  abstract keys(): Promise<{ name: string; ttl: number }[]>;
  protected abstract store(settings: ModuleSettings, clock: Clock): LockStore;
  /** Where its processes find it, and what else goes with the options of one of them. */
  protected abstract source(options: RedisLockOptions): RedisLockOptions;

  /** A store whose grants go to the inbox of a process that there is not. */
  protected deafStore(settings: ModuleSettings, clock: Clock): LockStore {
    const store = this.store(settings, clock);
    return withSteps(store, {
      processId: newProcessId(),
      open: () => store.open(deaf),
      names: async () => [],
    });
  }

  /** One more process that takes single steps. */
  async client(options: RedisLockOptions & { deaf?: boolean } = {}): Promise<Client> {
    const { deaf, ...rest } = options;
    const settings = moduleSettings({ ...this.source(rest), ...rest });
    const clock = this.#newClock();
    const plain = deaf ? this.deafStore(settings, clock) : this.store(settings, clock);
    const store = this.wrap(plain, clock);
    const client = new Client(store, this.kind.share);
    await client.open();
    this.#closing.push(() => store.close());
    return client;
  }

  /** One more process that holds leases. */
  async process(
    options: RedisLockOptions = {},
    wrap: Wrap = (store) => store,
  ): Promise<LockingProcess> {
    const { fairness } = this;
    const settings = moduleSettings({ ...this.source(options), fairness, ...options });
    const clock = this.#newClock();
    const answered = { asks: 0, renewals: 0 };
    const plain = counting(this.store(settings, clock), answered);
    const store = this.wrap(wrap(plain, clock), clock);
    const asking: Asking = (ask) => this.step(ask);
    const process = new LockingProcess(store, settings, clock, this.kind.share, answered, asking);
    await process.locks.open();
    this.started.push(process);
    this.#closing.push(() => this.finish(process.locks.close()));
    return process;
  }

  /** As much time passes as leases of `ttl`, all that the process holds, need to be renewed so often; fails if one is not. */
  async renewed(process: LockingProcess, ttl: number, times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const all = process.answered.renewals + process.locks.load.held;
      await this.pass(ttl / 3 + 100);
      await this.until('the leases are renewed', () => process.answered.renewals >= all);
    }
  }

  /** Each of these has asked again, as one who waits does. */
  async asked(...processes: readonly LockingProcess[]): Promise<void> {
    const before = processes.map(({ answered }) => answered.asks);
    await this.until('they have asked again', () =>
      processes.every(({ answered }, at) => answered.asks > before[at]!),
    );
  }

  /** What the promise comes to, while this world's time goes on. */
  async finish<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const settle = (): void => void (settled = true);
    promise.then(settle, settle);
    await this.until('a promise settles', () => settled);
    return promise;
  }

  /** What can be seen of a lock; `holder` is the first of several. */
  async snapshot(key = 'k'): Promise<Snapshot> {
    this.#observer ??= this.client();
    const snapshot = await (await this.#observer).lock.inspect(key, 100);
    return { ...snapshot, holder: snapshot.holders[0]?.holder ?? snapshot.holder };
  }

  async holder(key = 'k'): Promise<string> {
    return (await this.snapshot(key)).holder;
  }

  /** Resolves when so many entries are in the queue of a lock. */
  waiting(count: number, key = 'k'): Promise<void> {
    const waiting = async (): Promise<boolean> => (await this.snapshot(key)).waiting === count;
    return this.until(`${count} wait for ${key}`, waiting);
  }

  async close(): Promise<void> {
    try {
      await this.resume();
      await Promise.all(this.#closing.map((close) => close()));
    } finally {
      this.#closed = true;
    }
  }

  /** Does this step unless the world is closed: then nobody hears of it. */
  protected step<T>(step: () => Promise<T>): Promise<T> {
    return this.#closed ? new Promise(() => {}) : step();
  }

  #newClock(): StallingClock {
    const clock = new StallingClock(this.clock);
    this.clocks.push(clock);
    return clock;
  }
}

/** Counts what the store has answered. */
function counting(store: LockStore, answered: { asks: number; renewals: number }): LockStore {
  return withSteps(store, {
    acquire: async (ask) => {
      const answer = await store.acquire(ask);
      answered.asks += 1;
      return answer;
    },
    extend: async (requests) => {
      const extension = await store.extend(requests);
      answered.renewals += requests.length;
      return extension;
    },
  });
}

/** How a process comes to ask: not at all, in a world that is closed. */
type Asking = <T>(ask: () => Promise<T>) => Promise<T>;

/** A process of an application: what `LockService` stands on. */
export class LockingProcess {
  readonly locks: LockClient;

  constructor(
    readonly store: LockStore,
    readonly settings: ModuleSettings,
    readonly clock: StallingClock,
    private readonly share: Share | undefined,
    /** How often its store has answered. */
    readonly answered = { asks: 0, renewals: 0 },
    private readonly asking: Asking = (ask) => ask(),
  ) {
    this.locks = new LockClient(store, settings, clock);
  }

  acquire(
    options: AcquireOptions & { key?: string | readonly string[]; share?: Share } = {},
  ): Promise<BaseLease> {
    const { key = 'k', signal, share = this.share, ...rest } = options;
    const call = callSettings(rest, this.settings.call);
    return this.asking(() => this.locks.acquire(key, share ? { ...call, share } : call, signal));
  }

  /** Dies: nothing is given back, nothing is heard or sent any more. */
  async crash(): Promise<void> {
    await this.store.close();
  }
}

/** The same store with some steps of it done otherwise, whoever takes them. */
export function withSteps(store: LockStore, steps: Partial<LockStore>): LockStore {
  return new Proxy(store, {
    get(right, name) {
      const step: unknown = steps[name as keyof LockStore] ?? Reflect.get(right, name);
      return typeof step === 'function' ? (step.bind(right) as unknown) : step;
    },
  });
}
