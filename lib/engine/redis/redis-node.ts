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
import { ServerClock, timeIn } from './server-clock.js';
import { askHealth, notConnected, type ServerHealth } from './server-health.js';
import { notSent, unfit } from './store-failure.js';

/** A warning that names no server: each of several would say the same. */
const FALLBACK =
  'The installed ioredis does not take commands that nest-redis-lock encodes itself. Each goes as ioredis encodes it: locks work as ever, but each costs this process about half as much processor time again. Install a version of ioredis that the README of nest-redis-lock names, or take off what wraps its sendCommand.';

/** A step on a lock, before its node is known. */
export interface Step<Answer> {
  /** The Redis key whose node takes the step. */
  readonly redisKey: string;
  /** The lock's key, for messages; undefined for several locks. */
  readonly key: string | undefined;
  /** False as soon as nobody needs the step any more: it goes to no other node then. */
  readonly wanted?: (() => boolean) | undefined;
  /** The run of the step's script that this node takes now. */
  on(node: StepNode): ScriptRun<Answer>;
}

/** A node that takes steps, and its clock. */
export interface StepNode {
  readonly clock: ServerClock;
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer>;
  /** The latest moment at which a command sent at `now` may take effect, in µs of the server; 0 if none can be sent. */
  notAfter(now: number): number;
}

type ScriptRunner = Pick<StepNode, 'run'>;

/** One Redis process: a connection for commands, and its clock. */
export class RedisNode implements StepNode {
  /** Runs scripts while the node is ready: the connection, or a wrapper that waits for replicas. */
  readonly #confirmed: ScriptRunner;
  /** Refuses scripts while the node is not ready. */
  readonly #refusing: ScriptRunner = {
    run: ({ key }) => Promise.reject(notSent(key, this.#watch?.says)),
  };
  #watch: OutageWatch | undefined;
  /** The server's INFO at the start; empty if its user may not see that. */
  info = '';

  constructor(
    readonly connection: RedisConnection,
    private readonly checks: ServerChecks = {},
    readonly clock = new ServerClock(),
  ) {
    const { replicas } = checks;
    this.#confirmed = replicas ? new ReplicaAcks(connection, replicas) : connection;
  }

  /**
   * Connects, checks whether the server can keep locks, and reads its clock. `failed` is called with the reason of each
   * failed attempt, `reconnected` after each later connection. `merges`: runs of a script may share a command, since their
   * keys are in no slots.
   * @throws LockStoreError in bounded time.
   */
  async open(reconnected: () => void, merges: boolean, failed?: Start['failed']): Promise<void> {
    const { connection, checks } = this;
    const { client, clock } = connection;
    const check = async (): Promise<void> => {
      this.info = await checkServer(connection, checks);
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

  /** The start-up log's description: the address (`place`), the product, and warnings. */
  describe(place: string): Description {
    const { found, warnings } = description(this.info, place, this.checks);
    return { found, warnings: this.connection.fallsBack ? [...warnings, FALLBACK] : warnings };
  }

  get ready(): boolean {
    return this.connection.ready && this.clock.known;
  }

  /** The runner of scripts at this moment. */
  get runner(): ScriptRunner {
    return this.ready ? this.#confirmed : this.#refusing;
  }

  /** Whether the node takes a lock's step now, tried on a key of no lock within `within` ms. Never rejects. */
  health(key: string, within: number): Promise<ServerHealth> {
    const { connection, checks } = this;
    const address = addressOf(connection.client);
    if (this.ready) return askHealth(connection, address, key, within, checks.replicas);
    return Promise.resolve(notConnected(address, this.#watch?.says, connection));
  }

  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    return this.runner.run(run);
  }

  /** This node, for a step on a slot that is still on its way here. */
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

  /** The keys here of a type that match. A key that is there all the time is found, perhaps twice. */
  async *typedKeys(glob: string, type: KeyType): AsyncGenerator<string> {
    for await (const keys of scanned(this.connection, glob, 'TYPE', type)) yield* keys;
  }

  /** `isReplaced`: other servers are connected instead. */
  close(isReplaced = false): void {
    this.#watch?.close(isReplaced);
    this.connection.close();
    this.clock.forget();
  }

  /** Prepares a new connection: selects its database, checks the server, and reads its clock. */
  async #admit(): Promise<void> {
    const { connection, checks, clock } = this;
    const { db } = connection.client.options;
    if (db) await connection.send('select', [db]); // if Redis refuses ioredis' own SELECT, ioredis goes on in database 0
    await checks.admit?.(connection);
    const sent = momentOf(connection.clock);
    const server = timeIn(await connection.send('time'));
    if (!(server > 0)) throw unfit('what answers there is no Redis');
    clock.learn(sent, connection.clock.monotonic(), server);
  }
}
