import fc from 'fast-check';
import { type AcquireOptions, isLockError, type Lease, LockService } from '../../lib/index.js';
import { ManualClock, MemoryServer, memoryLockService } from '../../lib/memory/testing/index.js';

const key = fc.constantFrom('a', 'b');
const process = fc.nat(1);
/** Which of the leases that are there. */
const nth = fc.nat(9);

function asked<Do extends string>(does: Do, ...waits: [number, ...number[]]) {
  return fc.record({ do: fc.constant(does), process, key, wait: fc.constantFrom(...waits) });
}

/** What may happen: somebody asks, somebody does something with a lease, or something befalls the server. */
export const step = fc.oneof(
  { weight: 6, arbitrary: asked('ask', 0, 50, 5_000) },
  asked('read', 0, 500),
  asked('permit', 0, 500),
  asked('both', 0, 500),
  asked('dialect', 0, 500),
  fc.record({ do: fc.constant('elect' as const), process }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), nth }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['extend', 'downgrade', 'handOver', 'await', 'reenter'] as const)),
      nth,
    }),
  },
  fc.record({ do: fc.constant('abort' as const), nth }),
  fc.record({ do: fc.constant('force' as const), key }),
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
  fc.record({ do: fc.constant('flush' as const) }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('elapse' as const),
      ms: fc.constantFrom(1, 30, 400, 1_500, 4_000),
    }),
  },
  fc.record({ do: fc.constant('close' as const), process }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Two processes on one server in memory, what is asked of them, and what they have in hand. */
export class RandomCalls {
  readonly clock = new ManualClock();
  readonly server = new MemoryServer(this.clock);
  readonly services = [this.#service(), this.#service()];
  readonly leases: { readonly lease: Lease; readonly of: LockService }[] = [];
  readonly aborts: AbortController[] = [];
  readonly #asked: Promise<unknown>[] = [];
  /** Whether the server answers nothing. */
  isSilent = false;

  #service(): LockService {
    const options = { ttl: 3_000, commandTimeout: 500, outageWait: 1_000 } as const;
    const limits = { waitersPerProcess: 4, leases: 6 };
    return memoryLockService({ clock: this.clock, server: this.server, limits, ...options });
  }

  async apply(one: Step): Promise<void> {
    switch (one.do) {
      case 'elapse':
        return this.clock.advance(one.ms);
      case 'pause':
      case 'resume':
        this.isSilent = one.do === 'pause';
        return this.server[one.do]();
      case 'flush':
        return this.server.flush();
      case 'abort':
        return this.aborts[one.nth % this.aborts.length]?.abort();
      case 'force':
        return this.#ask(this.services[0]!.forceRelease(one.key));
      case 'close':
        return this.#ask(this.services[one.process]![Symbol.asyncDispose]());
      case 'elect':
        return this.#ask(this.services[one.process]!.election('e').campaign({ ...this.#signal() }));
      case 'ask':
      case 'read':
      case 'permit':
      case 'both':
      case 'dialect':
        return this.#ask(this.#acquire(one));
      default: {
        const held = this.leases[one.nth % this.leases.length];
        if (held) this.#ask(this.#use(held.lease, held.of, one.do));
      }
    }
  }

  /** What both processes have in hand. */
  get load(): { held: number; waiting: number } {
    const clients = this.services.map((locks) => LockService.internals(locks).client);
    const sum = (of: (client: (typeof clients)[0]) => number): number =>
      clients.reduce((all, client) => all + of(client), 0);
    const waiting = sum(({ load, conditions }) => load.waiting - conditions.size);
    return { held: sum(({ load }) => load.held), waiting };
  }

  #signal(): { signal: AbortSignal } {
    const abort = new AbortController();
    this.aborts.push(abort);
    return { signal: abort.signal };
  }

  async #acquire(one: Extract<Step, { wait: number }>): Promise<void> {
    const locks = this.services[one.process]!;
    const call = { wait: one.wait, ...this.#signal() };
    this.leases.push({ lease: await acquire(locks, one, call), of: locks });
  }

  async #use(lease: Lease, of: LockService, how: string): Promise<unknown> {
    if (how === 'handOver') {
      const other = this.services.find((each) => each !== of)!;
      const restored = await other.restore(await lease.handOver());
      return this.leases.push({ lease: restored, of: other });
    }
    if (how === 'await') return of.condition(lease, 'c').await({ wait: 200 });
    if (how === 'reenter') return lease.run(() => of.tryAcquire(lease.keys));
    return lease[how as 'release']();
  }

  #ask(asked: Promise<unknown>): void {
    const settled = asked.catch((error: unknown) => {
      if (isLockError(error) || (error as Error).name === 'AbortError') return;
      throw error;
    });
    settled.catch(() => {});
    this.#asked.push(settled);
  }

  /** Everybody goes home. */
  async close(): Promise<void> {
    this.server.resume();
    const closed = Promise.all(this.services.map((locks) => locks[Symbol.asyncDispose]()));
    await this.clock.advance(20_000);
    await Promise.all([closed, ...this.#asked]);
  }
}

function acquire(
  locks: LockService,
  one: Extract<Step, { wait: number }>,
  call: AcquireOptions,
): Promise<Lease> {
  if (one.do === 'permit') return locks.semaphore('s', { permits: 2 }).acquire(call);
  if (one.do === 'both') return locks.acquire(['a', 'b'], call);
  if (one.do === 'dialect') return locks.acquire('d', { ...call, dialect: 'plain' });
  return locks.acquire(one.key, { ...call, mode: one.do === 'read' ? 'shared' : 'exclusive' });
}
