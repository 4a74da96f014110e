import fc from 'fast-check';
import { ForeignLockError } from '../../lib/engine/errors/index.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { READER, type Share } from '../../lib/engine/options/index.js';
import type { Client } from '../support/client.js';
import type { World } from '../support/world.js';

/** How locks of one name are asked for, request by request. */
export const MIXES: Readonly<Record<string, readonly (Share | undefined)[]>> = {
  'exclusive locks': [],
  'readers and writers': [READER, undefined, READER, READER],
  permits: [of(3, 1), of(3, 2), of(2, 1), of(3, 1)],
  'a name used as everything': [undefined, READER, of(2, 1), undefined],
};

function of(permits: number, count: number): Share {
  return { permits, count };
}

/** A step of client `by` under the request `as`, as numbers so that two worlds can take it. */
interface Step {
  readonly does:
    | 'ask'
    | 'try'
    | 'release'
    | 'keep'
    | 'leave'
    | 'extend'
    | 'downgrade'
    | 'hand over'
    | 'await'
    | 'wake'
    | 'over'
    | 'abandon'
    | 'signal'
    | 'signal all'
    | 'stamp'
    | 'force'
    | 'silence'
    | 'flush';
  readonly by: number;
  readonly as: number;
}

const CLAIMS = 4;

/** What three clients do with one lock. */
export const steps = fc.array(
  fc.record<Step>({
    does: fc.oneof(
      { weight: 8, arbitrary: fc.constant('ask' as const) },
      { weight: 8, arbitrary: fc.constantFrom('try', 'release', 'leave', 'extend') },
      {
        weight: 4,
        arbitrary: fc.constantFrom('keep', 'force', 'silence', 'downgrade', 'stamp', 'hand over'),
      },
      {
        weight: 8,
        arbitrary: fc.constantFrom('await', 'wake', 'over', 'abandon', 'signal', 'signal all'),
      },
      { weight: 1, arbitrary: fc.constant('flush' as const) },
    ),
    by: fc.nat(2),
    as: fc.nat(CLAIMS - 1),
  }),
  { minLength: 5, maxLength: 40 },
);

/** Two processes that hear and one that does not, each with requests that it sends again and again. */
export class Player {
  readonly #names = new Map<string, string>();
  /** By holder: under which request it awaits a condition. */
  readonly #waits = new Map<string, LockRequest>();
  readonly #arrivals = new Map<string, string>();
  readonly #tokens: number[] = [];

  private constructor(
    private readonly world: World,
    private readonly clients: readonly Client[],
    private readonly requests: readonly (readonly LockRequest[])[],
  ) {
    for (const [by, own] of requests.entries()) {
      for (const [as, { holder }] of own.entries()) this.#names.set(holder, `${by}.${as}`);
      for (const { holder } of own) this.#waits.set(holder, clients[by]!.request({ ttl: 60_000 }));
      for (const { holder } of own) {
        this.#names.set(this.#waits.get(holder)!.holder, `${this.#names.get(holder)} awaits`);
      }
    }
  }

  static async start(world: World, shares: readonly (Share | undefined)[]): Promise<Player> {
    const clients = [
      await world.client({ limits: { waitersPerKey: 5 } }),
      await world.client({ limits: { waitersPerKey: 5 } }),
      await world.client({ limits: { waitersPerKey: 5 }, deaf: true }),
    ];
    const requests = clients.map((client) =>
      Array.from({ length: CLAIMS }, (_, as) =>
        client.request({ ttl: 60_000, tokenBlock: as === 3 ? 0 : 1, share: shares[as] }),
      ),
    );
    return new Player(world, clients, requests);
  }

  /** What was answered and what could be seen afterwards, without times and ids. */
  async play({ does, by, as }: Step): Promise<unknown> {
    const answer = await this.#take(does, this.clients[by]!, this.requests[by]![as]!).catch(
      (error: unknown) => {
        if (error instanceof ForeignLockError) return error.type;
        throw error;
      },
    );
    const { type, holders, mode, holder, waiting, awaiting, entries, fencingToken } =
      await this.world.snapshot();
    if (fencingToken !== undefined && fencingToken !== this.#tokens.at(-1)) {
      this.#tokens.push(fencingToken);
    }
    return {
      answer,
      type,
      holder: mode ?? this.#names.get(holder) ?? holder,
      holders: holders.map((each) => this.#nameOf(each.holder)).sort(),
      waiting,
      awaiting,
      entries: entries.map(({ entry }) => this.#names.get(entry.split('/').slice(0, 2).join('/'))),
      fence: fencingToken === undefined ? undefined : this.#tokens.lastIndexOf(fencingToken),
    };
  }

  /** What is kept is named after its holder. */
  #nameOf(id: string): string {
    const [, kept = '', holder = ''] = /^(kept\/)?(.+)$/.exec(id) ?? [];
    return `${kept}${this.#names.get(holder)}`;
  }

  async heard(): Promise<string[][]> {
    return this.clients.map(({ grants }) =>
      grants.map(({ request }) => this.#names.get(request.holder)!),
    );
  }

  async #ask(client: Client, request: LockRequest, more: Partial<LockRequest>): Promise<unknown> {
    const answer = await client.ask(request, {
      enqueuedAt: this.#arrivals.get(request.holder),
      ...more,
    });
    if (answer.kind === 'queued') {
      this.#arrivals.set(request.holder, answer.enqueuedAt);
      const { kind, rank, requeued, signalled } = answer;
      return { kind, rank, requeued, signalled };
    }
    const { kind } = answer;
    return kind === 'held'
      ? { kind, tokens: answer.tokens, signalled: answer.signalled === true }
      : answer;
  }

  async #take(does: Step['does'], client: Client, request: LockRequest): Promise<unknown> {
    const name = request.tokenBlock === 0 ? 'other' : 'changed';
    const awaits = { ...this.#waits.get(request.holder)!, condition: { name, over: false } };
    switch (does) {
      case 'ask':
      case 'try':
        return this.#ask(client, request, { queue: does === 'ask' });
      case 'await':
        return this.#ask(client, awaits, { former: request });
      case 'wake':
        return this.#ask(client, awaits, {});
      case 'over':
        return this.#ask(client, { ...awaits, condition: { name, over: true } }, {});
      case 'abandon':
        return client.lock.leave(awaits);
      case 'signal':
      case 'signal all':
        return client.lock.signal(request, name, does === 'signal' ? 1 : 9);
      case 'release':
      case 'keep':
        return client.lock.release(request, does === 'keep' ? 60_000 : 0);
      case 'leave':
        return client.lock.leave(request);
      case 'extend': {
        const [left] = (await client.lock.extend([request])).remaining;
        return typeof left === 'number' ? 'extended' : left;
      }
      case 'downgrade':
        return client.lock.downgrade(request);
      case 'hand over': {
        const next = this.requests[(this.clients.indexOf(client) + 1) % this.requests.length]!;
        const successor = next[this.requests[this.clients.indexOf(client)]!.indexOf(request)]!;
        const { remaining } = await client.lock.transfer(request, successor);
        return typeof remaining === 'number' ? 'handed over' : remaining;
      }
      case 'stamp': {
        const version = await client.lock.stamp('k');
        if (version === undefined) return 'held';
        return version === (await this.world.snapshot()).fencingToken ? 'its version' : 'another';
      }
      case 'force':
        return client.lock.force('k');
      case 'silence':
        return this.world.silence(3_100);
      case 'flush':
        return this.world.flush();
    }
  }
}
