import { momentOf } from '../options/index.js';
import { waitUntilReady, type Start } from './wait-until-ready.js';
import type { KeyType } from './key-names.js';
import { onEachConnection } from './ioredis-workarounds.js';
import { addressOf } from './open-connection.js';
import { OutageWatch } from './outage-watch.js';
import type { RedisConnection } from './redis-connection.js';
import { ReplicaAcks } from './replica-acks.js';
import { alike, type ScriptRun } from './lua-script.js';
import { scanned } from './scan.js';
import { checkServer, type Description, description, type ServerChecks } from './server-check.js';
import { ServerClock } from './server-clock.js';
import { askHealth, notConnected, type ServerHealth } from './server-health.js';
import { notSent, unfit } from './store-failure.js';

/** Names no server: of several, each would say the same. */
const FALLBACK =
  'The installed ioredis does not take commands that nest-redis-lock encodes itself. Each goes as ioredis encodes it: locks work as ever, but each costs this process about half as much processor time again. Install a version of ioredis that the README of nest-redis-lock names, or take off what wraps its sendCommand.';

/** A step on a lock, before the node is known that takes it. */
export interface Step<Answer> {
  /** It is taken where this key lives. */
  readonly redisKey: string;
  /** The lock's key, for messages; undefined: of several. */
  readonly key: string | undefined;
  /** False as soon as nobody needs it any more: it goes to no other node then. */
  readonly wanted?: (() => boolean) | undefined;
  /** The run of its script, which that node takes now. */
  on(node: StepNode): ScriptRun<Answer>;
}

/** Where a step of a lock is taken: what runs there, and what that place's clock says. */
export interface StepNode {
  readonly clock: ServerClock;
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer>;
  /** The latest moment at which a command sent now may still take effect, on the server's clock in µs; 0 if it cannot be sent. */
  notAfter(now: number): number;
}

type ScriptRunner = Pick<StepNode, 'run'>;

/** One Redis process: a connection for commands, and its clock. */
export class RedisNode implements StepNode {
  /** What runs scripts while the node is ready: the connection, or what has replicas confirm what it writes. */
  readonly #confirmed: ScriptRunner;
  /** What refuses them while it is not. */
  readonly #refusing: ScriptRunner = {
    run: ({ key }) => Promise.reject(notSent(key, this.#watch?.says)),
  };
  #watch: OutageWatch | undefined;
  #info = '';

  constructor(
    readonly connection: RedisConnection,
    private readonly checks: ServerChecks = {},
    readonly clock = new ServerClock(),
  ) {
    const { replicas } = checks;
    this.#confirmed = replicas ? new ReplicaAcks(connection, replicas) : connection;
  }

  /**
   * Connects, looks whether the server can keep locks, and reads its clock; `failed` is called with why an attempt was in
   * vain, `reconnected` after every connection behind this one. Whoever says that it `merges` runs of a script knows that
   * their keys are not in slots of a Cluster.
   * @throws LockStoreError in bounded time.
   */
  async open(reconnected: () => void, merges: boolean, failed?: Start['failed']): Promise<void> {
    const { connection, checks } = this;
    const { client, clock } = connection;
    const check = async (): Promise<void> => {
      this.#info = await checkServer(connection, checks);
      await connection.tryOut(merges);
      await this.#admit();
    };
    await waitUntilReady(connection, { check, failed });
    const watch = (this.#watch = new OutageWatch(client, clock, checks.outages));
    client.on('close', () => this.clock.forget());
    onEachConnection(
      connection,
      () => this.#admit(),
      () => {
        reconnected();
        watch.back();
      },
      watch.failed,
    );
  }

  /** What a start-up log says of it: where it is, as `place` has it, what it is, and what to know of that. */
  describe(place: string): Description {
    const { found, warnings } = description(this.#info, place, this.checks);
    return { found, warnings: this.connection.fallsBack ? [...warnings, FALLBACK] : warnings };
  }

  /** What the server said of itself at the start; nothing where its user may not see that. */
  get info(): string {
    return this.#info;
  }

  get ready(): boolean {
    return this.connection.ready && this.clock.known;
  }

  /** What runs scripts here now. */
  get runner(): ScriptRunner {
    return this.ready ? this.#confirmed : this.#refusing;
  }

  /** Whether it could take a lock's step now, tried on a key of no lock; within so many ms. Never rejects. */
  health(key: string, within: number): Promise<ServerHealth> {
    const { connection, checks } = this;
    const address = addressOf(connection.client);
    if (this.ready) return askHealth(connection, address, key, within, checks.replicas?.acks);
    return Promise.resolve(notConnected(address, this.#watch?.says, connection));
  }

  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    return this.runner.run(run);
  }

  /** For a step that this node takes although the lock's slot is still on its way here. */
  get asking(): StepNode {
    return {
      clock: this.clock,
      notAfter: (now) => this.notAfter(now),
      run: (run) => this.run(alike(run, { asking: true })),
    };
  }

  notAfter(now: number): number {
    if (!this.clock.known) return 0;
    return Math.round((this.clock.serverTimeAt(now) + this.connection.timeout) * 1_000);
  }

  /** The keys here that are of a type and match; one that is there all the time is found, some of them twice. */
  async *typedKeys(glob: string, type: KeyType): AsyncGenerator<string> {
    for await (const keys of scanned(this.connection, glob, 'TYPE', type)) yield* keys;
  }

  /** `isReplaced`: others are connected to in its stead. */
  close(isReplaced = false): void {
    this.#watch?.close(isReplaced);
    this.connection.close();
    this.clock.forget();
  }

  /** A new connection: its database is made sure of, the server is looked at, and its clock read. */
  async #admit(): Promise<void> {
    const { connection, checks, clock } = this;
    const { db } = connection.client.options;
    if (db) await connection.send('select', [db]); // where Redis refuses that of ioredis, it goes on in database 0
    await checks.admit?.(connection);
    const sent = momentOf(connection.clock);
    const [seconds, micros] = (await connection.send('time')) as [string, string];
    const server = Number(seconds) * 1_000 + Number(micros) / 1_000;
    if (!(server > 0)) throw unfit('what answers there is no Redis');
    clock.learn(sent, connection.clock.monotonic(), server);
  }
}
