import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseLease, Lease } from '../../lib/engine/client/leases/lease.js';
import {
  isLockError,
  LockNotAcquiredError,
  type LossReason,
} from '../../lib/engine/errors/index.js';
import type { AcquireOptions, Share } from '../../lib/engine/options/index.js';
import { controlOf } from '../support/control.js';
import { HistoryRecorder } from '../support/history.js';
import { monotonic } from '../support/monotonic.js';
import { random } from '../support/random.js';
import { SleptClock } from '../support/slept-clock.js';
import { Application } from './application.js';
import { Attention } from './attention.js';
import { described } from './failures.js';
import { Guarded } from './guarded.js';
import { journalTo, type Note } from './journal.js';
import type { PlaceOptions } from './places.js';
import type { PlantName } from './plants.js';

/** What one process plays. Plain data: it is sent to it. */
export interface Play {
  readonly options: PlaceOptions;
  /** How often each way to lock is chosen; the weights need not add up to anything. */
  readonly ways: Partial<Record<Way, number>>;
  readonly keys: readonly string[];
  /** The name of a semaphore. */
  readonly semaphore: string;
  readonly permits: number;
  readonly callers: number;
  readonly seed: number;
  /** The longest lease that a call asks for, and the longest wait, in ms. */
  readonly ttl: number;
  readonly wait: number;
  /** Where the processes of a history leave things for each other, and their journals. */
  readonly folder: string;
  /** This process: the name of its journal, and where it reads how long its machine slept. */
  readonly name: string;
  /** A server without faults. */
  readonly resource: string;
  readonly plant?: PlantName | undefined;
}

/** That a lock was granted, on the monotonic clock. */
export interface Granted {
  readonly key: string;
  readonly at: number;
}

export interface Progress {
  readonly operations: number;
  /** What was granted since the last message. */
  readonly grants: readonly Granted[];
  /** What the last call that failed ended in. */
  readonly failure: string;
}

export type Way =
  | 'exclusive'
  | 'shared'
  | 'permits'
  | 'many'
  | 'nested'
  | 'condition'
  | 'handOver'
  | 'restore'
  | 'downgrade'
  | 'extend'
  | 'long'
  | 'tried'
  | 'aborted'
  | 'optimistic';

/** One way to lock, from its begin to its end. */
interface Turn {
  readonly way: Way;
  readonly application: Application;
  readonly from: number;
}

interface RecordedLease {
  readonly lease: Lease;
  readonly holder: string;
  /** To be called before it is given back; a second call does nothing. */
  readonly end: () => void;
}

/** How often renewals of leases are written down, in ms. */
const RENEWALS = 20;
/** How much longer than it may a call may take, in ms of this process's attention. */
const SLACK = 3_000;
/** How much earlier than its time a timer may be over, in ms. */
const EARLY = 2;
/** The longest work under a lock, in ms, but for what is `long`. */
const WORK = 5;
/** The leases that calls ask for, of the longest: few, since entries of one ttl are granted in batches. */
const TTLS = [0.3, 0.6, 1];

/** The shortest lease that a call asks for, where the longest is `ttl`; in ms. */
export function shortestLease(ttl: number): number {
  return ttl * TTLS[0]!;
}

/** The callers of one process, each of which locks in all ways, one after the other. */
export class Player {
  operations = 0;
  #grants: Granted[] = [];
  #failure = '';
  #over = false;
  #application!: Application;
  #callers: Promise<unknown> = Promise.resolve();
  readonly #note: Note;
  readonly #recorder: HistoryRecorder;
  readonly #attention = new Attention((ms) => this.#note('paused', { at: monotonic(), ms }));
  /** The calls that are not settled. */
  readonly #open = new Set<{
    readonly what: string;
    readonly from: number;
    readonly bound: number;
  }>();
  /** What the running code does for its caller. */
  readonly #turn = new AsyncLocalStorage<Turn>();
  readonly #guarded: Guarded;
  readonly #mailbox: string;

  private constructor(private readonly play: Play) {
    this.#note = journalTo(join(play.folder, `${play.name}.journal`));
    this.#recorder = new HistoryRecorder(undefined, (claim) => this.#note('claim', claim));
    this.#guarded = new Guarded(controlOf(play.resource));
    setInterval(() => this.#recorder.noteRenewals(), RENEWALS).unref();
    this.#mailbox = join(play.folder, 'handed-over');
    mkdirSync(this.#mailbox, { recursive: true });
  }

  static async start(play: Play): Promise<Player> {
    const player = new Player(play);
    player.#application = await player.#newApplication();
    const all = Array.from({ length: play.callers }, (_, at) => player.#caller(at));
    player.#callers = Promise.all(all);
    return player;
  }

  trouble(what: string): void {
    this.#note('trouble', { what });
  }

  /** What was done, and which locks were granted since this was asked last. */
  progress(): Progress {
    const grants = this.#grants;
    this.#grants = [];
    return { operations: this.operations, grants, failure: this.#failure };
  }

  /** Nothing runs in this process for so long. */
  stall(ms: number): void {
    for (const end = performance.now() + ms; performance.now() < end;);
  }

  /** The application is closed, and another is started. */
  async restart(): Promise<void> {
    const before = this.#application;
    this.#application = await this.#newApplication();
    await this.#timed('app.close()', 5_000, () => before.close());
  }

  /** No caller begins anew; resolves with what never ends. */
  async end(): Promise<string[]> {
    this.#over = true;
    const done = this.#callers.then(() => true);
    const late = (): boolean =>
      [...this.#open].some(({ from, bound }) => this.#attention.now - from > bound + SLACK);
    while (!(await Promise.race([done, pause(50).then(() => false)]))) {
      if (late()) return [...this.#open].map(({ what }) => what);
    }
    const { held } = await this.#application.locks.health({ timeout: 1_000 });
    if (held > 0) this.trouble(`${held} locks are held, and no caller is at work`);
    await this.#timed('app.close()', 5_000, () => this.#application.close());
    return [];
  }

  #newApplication(): Promise<Application> {
    const { options, folder, name } = this.play;
    const clock = new SleptClock(join(folder, `${name}.clock`));
    return Application.start(options, clock, this.#recorder.watch);
  }

  async #caller(nth: number): Promise<void> {
    const own = random(this.play.seed + 7_919 * (nth + 1));
    const ways = Object.entries(this.play.ways) as [Way, number][];
    const whole = ways.reduce((sum, [, weight]) => sum + weight, 0);
    while (!this.#over) {
      let chance = own() * whole;
      const [way] = ways.find(([, weight]) => (chance -= weight) < 0) ?? ways[0]!;
      const application = this.#application;
      await this.#inTurn(way, application, own, () => this.#ways[way](application, own));
      await pause(own() * 2);
    }
  }

  async #inTurn(
    way: Way,
    application: Application,
    own: () => number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    await this.#turn.run({ way, application, from: monotonic() }, async () => {
      try {
        await work();
      } catch (error) {
        this.#failed(error);
        await pause(5 + own() * 20); // what fails at once fails again at once
      }
    });
  }

  #failed(error: unknown): void {
    if (error === ABORTED) return;
    this.#failure = String(error);
    const { way, application, from } = this.#turn.getStore()!;
    if (!isLockError(error))
      return this.trouble(`${way}: ${(error as Error | undefined)?.stack ?? String(error)}`);
    const closing = application !== this.#application;
    this.#note('failed', { ...described(error), way, from, at: monotonic(), closing });
  }

  readonly #ways: Record<Way, (app: Application, own: () => number) => Promise<unknown>> = {
    exclusive: (app, own) =>
      this.#under(app, own, this.#keyOf(own), {}, (lease) => this.#work(lease, own)),

    shared: (app, own) =>
      this.#under(app, own, this.#keyOf(own), { mode: 'shared' }, () => pause(own() * WORK)),

    permits: async (app, own) => {
      const { semaphore: name, permits } = this.play;
      const share = { permits, count: own() < 0.2 ? 2 : 1 };
      const semaphore = app.locks.semaphore(name, { permits });
      const options = { ...this.#times(own), count: share.count };
      const ask = (): Promise<Lease> => semaphore.acquire(options);
      await this.#section(app, name, options.wait, { share }, ask, () => pause(own() * WORK));
    },

    many: (app, own) => {
      const [one, other] = this.#twoOf(own);
      return this.#under(app, own, [one, other], {}, (lease) => this.#work(lease, own));
    },

    /** The same lock once more inside, and the other one, in order. */
    nested: (app, own) => {
      const [one, other] = this.#twoOf(own);
      return this.#under(app, own, one, {}, (lease, holder) =>
        lease.run(async () => {
          const again = await this.#timed('re-entry', 0, () => app.locks.acquire(one));
          const { end } = this.#recorder.record(app, again, { key: one }, { holder });
          try {
            await this.#under(app, own, other, {}, (inner) => this.#work(inner, own));
          } finally {
            end();
            await this.#released(again);
          }
        }),
      );
    },

    /** One who wakes others as often as it awaits it. */
    condition: async (app, own) => {
      const key = this.play.keys.at(-1)!;
      const asked = await this.#acquired(app, key, this.#times(own), {});
      const { lease } = asked;
      let { end } = asked;
      try {
        await this.#work(lease, own);
        const condition = app.locks.condition(lease, 'met');
        const from = monotonic();
        if (own() < 0.5) {
          this.#note('signal', { from });
          const heard = await this.#timed('signal', 2_000, () => condition.signal());
          this.#note('signal', { from, to: monotonic(), heard });
        } else {
          end();
          end = () => {};
          // It waits for the lock as long as others want it before.
          const wait = own() * 200;
          this.#note('await', { from, wait });
          let woken: boolean | undefined;
          try {
            woken = await this.#timed('await', 30_000, () => condition.await({ wait }));
          } finally {
            // Who may have been taken for dead wakes as if it had been signalled.
            const unsure = this.#recorder.mayHaveDied(app, key, from);
            const ended = { from, wait, at: monotonic(), unsure };
            this.#note('await', woken === undefined ? ended : { ...ended, woken });
          }
          ({ end } = this.#recorder.record(app, lease, { key }, { asked: from }));
          await this.#work(lease, own);
        }
      } finally {
        end();
        await this.#released(lease);
      }
    },

    /** Mostly it goes on with that itself, if nobody else did: what nobody takes bars the lock for a lease. */
    handOver: async (app, own) => {
      const { lease, end, holder } = await this.#acquired(app, this.#keyOf(own), this.#times(own));
      try {
        await this.#work(lease, own);
        end();
        const text = await this.#timed('handOver', 2_000, () => lease.handOver());
        const name = randomUUID();
        const draft = join(this.play.folder, name);
        writeFileSync(draft, JSON.stringify({ text, holder }));
        renameSync(draft, join(this.#mailbox, name));
        await pause(own() * 2 * WORK);
        if (own() < 0.1) return;
        await this.#inTurn('restore', app, own, () => this.#restore(app, own, name));
      } finally {
        end();
        await this.#released(lease);
      }
    },

    restore: async (app, own) => {
      const [name] = readdirSync(this.#mailbox);
      if (name !== undefined) await this.#restore(app, own, name);
    },

    downgrade: async (app, own) => {
      const key = this.#keyOf(own);
      const { lease, end } = await this.#acquired(app, key, this.#times(own));
      let ended = end;
      try {
        await this.#work(lease, own);
        ended();
        ended = () => {};
        await this.#timed('downgrade', 2_000, () => lease.downgrade());
        ended = this.#recorder.record(app, lease, { key, mode: 'shared' }).end;
        await pause(own() * WORK);
      } finally {
        ended();
        await this.#released(lease);
      }
    },

    extend: (app, own) =>
      this.#under(app, own, this.#keyOf(own), {}, async (lease) => {
        await this.#work(lease, own);
        await this.#timed('extend', 2_000, () => lease.extend(this.play.ttl));
        await this.#work(lease, own);
      }),

    /** Held for longer than its lease, by renewals. */
    long: async (app, own) => {
      const ttl = 600;
      const options = { ...this.#times(own), ttl };
      const { lease, end } = await this.#acquired(app, this.#keyOf(own), options);
      const until = monotonic() + 2 * ttl;
      while (monotonic() < until && lease.held) await pause(20);
      await this.#work(lease, own).finally(end);
      await this.#released(lease);
    },

    tried: async (app, own) => {
      const key = this.#keyOf(own);
      const options = { ttl: this.#times(own).ttl };
      const asked = monotonic();
      const { got: lease, holderIds } = await this.#recorder.during(() =>
        this.#timed('tryAcquire', 0, () => app.locks.tryAcquire(key, options)),
      );
      if (!lease) return;
      const { end } = this.#recorder.record(app, lease, { key }, { asked, holderIds });
      this.#granted(lease);
      await this.#work(lease, own).finally(end);
      await this.#released(lease);
    },

    aborted: (app, own) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(ABORTED), own() * 30);
      const { signal } = controller;
      const work = (lease: Lease): Promise<void> => this.#work(lease, own);
      return this.#under(app, own, this.#keyOf(own), { signal }, work);
    },

    optimistic: async (app, own) => {
      const key = this.#keyOf(own);
      const stamp = await this.#timed('optimistic', 2_000, () => app.locks.optimistic(key));
      const from = monotonic();
      await pause(own() * WORK);
      const to = monotonic();
      const valid = await this.#timed('validate', 2_000, () => stamp.validate());
      this.#note('stamp', { key, from, to, valid });
    },
  };

  /** Goes on with what any process has handed over; others may have the same text. */
  async #restore(app: Application, own: () => number, name: string): Promise<void> {
    const file = join(this.#mailbox, name);
    let said: string;
    try {
      said = readFileSync(file, 'utf8');
    } catch {
      return; // another took it away
    }
    if (own() < 0.5) rmSync(file, { force: true });
    const { text, holder } = JSON.parse(said) as { text: string; holder: string };
    const lease = await this.#timed('restore', 4_000, () => app.locks.restore(text));
    this.#note('restored', { text });
    const restored = { holder: `${holder}, restored ${randomUUID()}` };
    const { end } = this.#recorder.record(app, lease, { key: lease.key }, restored);
    await this.#work(lease, own).finally(end);
    await this.#released(lease);
  }

  #under(
    app: Application,
    own: () => number,
    key: string | string[],
    more: Pick<AcquireOptions, 'mode' | 'signal'>,
    work: (lease: Lease, holder: string) => Promise<unknown>,
  ): Promise<void> {
    const options = { ...this.#times(own), ...more };
    const ask = (): Promise<Lease> => app.locks.acquire(key, options);
    return this.#section(app, key, options.wait, more, ask, work);
  }

  async #section(
    app: Application,
    key: string | string[],
    wait: number,
    how: { readonly share?: Share; readonly mode?: AcquireOptions['mode'] },
    ask: () => Promise<Lease>,
    work: (lease: Lease, holder: string) => Promise<unknown>,
  ): Promise<void> {
    const { lease, holder, end } = await this.#recorded(app, key, wait, how, ask);
    try {
      await work(lease, holder);
    } finally {
      end();
      await this.#released(lease);
    }
  }

  #acquired(
    app: Application,
    key: string,
    options: { readonly ttl: number; readonly wait: number },
    how: AcquireOptions = {},
  ): Promise<RecordedLease> {
    const ask = (): Promise<Lease> => app.locks.acquire(key, { ...options, ...how });
    return this.#recorded(app, key, options.wait, how, ask);
  }

  async #recorded(
    app: Application,
    key: string | string[],
    wait: number,
    how: { readonly share?: Share; readonly mode?: AcquireOptions['mode'] },
    ask: () => Promise<Lease>,
  ): Promise<RecordedLease> {
    const asked = monotonic();
    const timed = (): Promise<Lease> => this.#timed(`acquire ${String(key)}`, wait, ask);
    const { got: lease, holderIds } = await this.#recorder.during(timed);
    this.#granted(lease);
    const { mode, share } = how;
    const options = { key, ...(mode ? { mode } : {}), ...(share ? { share } : {}) };
    const { holder, end } = this.#recorder.record(app, lease, options, { asked, holderIds });
    let ended = false;
    return {
      lease,
      holder,
      end() {
        if (!ended) end();
        ended = true;
      },
    };
  }

  /** Counts one more in a store that looks at tokens, whatever the lease says meanwhile. */
  async #work(lease: Lease, own: () => number): Promise<void> {
    if (own() < 0.5) await pause(own() * WORK);
    for (const key of lease.keys) {
      const token = lease.fencingTokenOf(key);
      const seen = await this.#guarded.read(key, token);
      if (own() < 0.3) await pause(own() * WORK);
      if (seen !== undefined) await this.#guarded.write(key, token, seen);
      else if (lease.held)
        this.#note('refused', { what: `${key}: token ${token} of ${this.play.name}` });
    }
  }

  async #released(lease: Lease): Promise<void> {
    if (await this.#timed('release', 2_000, () => lease.release())) return;
    const error = (lease as BaseLease).lossError();
    if (!GIVEN.has(error.reason)) this.#failed(error);
  }

  /** A call of the library that has to settle within so many ms, or little more. */
  async #timed<T>(what: string, within: number, call: () => Promise<T>): Promise<T> {
    const { commandTimeout, connectTimeout } = this.play.options;
    const bound = within + connectTimeout + commandTimeout;
    const running = { what, bound, from: this.#attention.now };
    const asked = monotonic();
    this.#open.add(running);
    this.operations += 1;
    try {
      return await call();
    } catch (error) {
      const waited = monotonic() - asked;
      if (error instanceof LockNotAcquiredError && waited < within - EARLY) {
        this.trouble(`${what} was given up after ${Math.round(waited)} ms, not ${within}`);
      }
      throw error;
    } finally {
      this.#open.delete(running);
      const took = this.#attention.now - running.from;
      if (took > bound + SLACK) this.trouble(`${what} took ${Math.round(took)} ms, not ${bound}`);
    }
  }

  #granted({ keys }: Lease): void {
    const at = monotonic();
    this.#grants.push(...keys.map((key) => ({ key, at })));
  }

  #times(own: () => number): { ttl: number; wait: number } {
    const { ttl, wait } = this.play;
    const share = TTLS[Math.floor(own() * TTLS.length)]!;
    return { ttl: Math.round(ttl * share), wait: Math.round(wait * own()) };
  }

  #keyOf(own: () => number): string {
    const { keys } = this.play;
    return keys[Math.floor(own() * keys.length)]!;
  }

  #twoOf(own: () => number): [string, string] {
    const one = this.#keyOf(own);
    const others = this.play.keys.filter((key) => key !== one);
    return [one, others[Math.floor(own() * others.length)]!].sort() as [string, string];
  }
}

const ABORTED = new Error('The caller went away.');
/** Why a lease is over that nobody lost: its caller gave it away, or did not get it back, and knows why. */
const GIVEN: ReadonlySet<LossReason> = new Set(['transferred', 'awaiting']);

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
