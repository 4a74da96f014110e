import { LockStoreError } from '../engine/errors/index.js';
import { type Clock, momentOf, partsMatcher } from '../engine/options/index.js';
import {
  type Description,
  type KeyType,
  type LockServer,
  notConnected,
  type ScriptRun,
  ServerClock,
  type ServerHealth,
  type ServerListener,
  type Step,
  type StepNode,
  storeFailure,
  ForeignChannels,
} from '../engine/redis/index.js';
import type { MemoryServer } from './memory-server.js';

/**
 * The connection of one process to a server in memory, in the role of a Redis server: it runs the same scripts. Every command
 * settles within `timeout` ms, as on Redis.
 */
export class MemoryLockServer implements LockServer, StepNode {
  readonly clock = new ServerClock();
  ready = false;
  readonly foreignChannels: ForeignChannels;
  readonly #subscriptions = new Map<string, () => void>();
  #endListening = (): void => {};

  constructor(
    private readonly server: MemoryServer,
    private readonly timeout: number,
    readonly time: Clock,
    readonly inboxPrefix: string,
    private readonly processId: string,
  ) {
    this.foreignChannels = new ForeignChannels(time);
  }

  async open(listener: ServerListener): Promise<void> {
    const { server, time } = this;
    const inbox = this.inboxPrefix + this.processId;
    const unsubscribe = server.subscribe(inbox, (text) => listener.message(text));
    const unheard = server.onResume(() => listener.reconnected());
    this.#endListening = () => {
      unsubscribe();
      unheard();
    };
    this.ready = true;
    this.clock.learn(momentOf(time), time.monotonic(), server.clock.wall());
    await this.foreignChannels.connected({
      send: (command, [channel]) => this.#listen(command, channel!),
    });
  }

  take<Answer>(step: Step<Answer>): Promise<Answer> {
    return this.run(step.on(this));
  }

  at<Answer>(
    _redisKey: string,
    _key: string | undefined,
    step: (node: StepNode) => Promise<Answer>,
  ): Promise<Answer> {
    return step(this);
  }

  async run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    const { script, key } = run;
    const operands = script.operands(run as ScriptRun<unknown>);
    const reply = await this.#send(key, () => {
      try {
        return script.replyTo(0, 1, this.server.eval(script, operands));
      } catch (error) {
        throw storeFailure(error, key);
      }
    });
    if (reply instanceof Error) throw storeFailure(reply, key);
    return run.read(reply, this.time.monotonic());
  }

  notAfter(now: number): number {
    if (!this.clock.known) return 0;
    return Math.round((this.clock.serverTimeAt(now) + this.timeout) * 1_000);
  }

  slotOf(): number {
    return 0;
  }

  fenceTagOf(): string {
    return '';
  }

  clockOf(): ServerClock {
    return this.clock;
  }

  async *typedKeys(glob: string, type: KeyType): AsyncGenerator<string> {
    const matches = partsMatcher(partsOf(glob));
    yield* await this.#send(undefined, () => {
      const { keys } = this.server;
      return keys.names().filter((name) => matches(name) && keys.typeOf(name) === type);
    });
  }

  doubtChannel(): void {
    // memory loses no push
  }

  async health(_prefix: string, within: number): Promise<ServerHealth[]> {
    const { server, time } = this;
    const sentAt = time.monotonic();
    const known = { address: 'memory', status: 'up', problem: undefined, lastAnswer: 0 } as const;
    try {
      await this.#send(undefined, () => {}, within);
    } catch {
      const why = this.ready ? `did not answer within ${within} ms` : 'is not open';
      return [notConnected(known.address, `The memory ${why}`)];
    }
    const roundTrip = time.monotonic() - sentAt;
    return [{ ...known, roundTrip, clockOffset: server.clock.wall() - time.wall() }];
  }

  async hears(within: number): Promise<boolean> {
    const [found] = await this.health('', within);
    return found!.status === 'up';
  }

  describe(): Description {
    return { found: 'A lock store in memory', warnings: [] };
  }

  async close(): Promise<void> {
    this.ready = false;
    this.clock.forget();
    this.#endListening();
    this.foreignChannels.close();
    for (const end of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  /** Runs `step` on the server and answers asynchronously, as a network would. */
  #send<T>(key: string | undefined, step: () => T, within = this.timeout): Promise<T> {
    const { server, time } = this;
    if (!this.ready) return Promise.reject(failure(key, 'it is not open', 'unsent'));
    if (server.answers) return server.run(step);
    return new Promise((resolve, reject) => {
      const cancel = time.after(within, () =>
        reject(failure(key, `it did not answer within ${within} ms`, 'unknown')),
      );
      server.run(step).then(resolve, reject).finally(cancel);
    });
  }

  /** Subscribes to, or unsubscribes from, the channel of another service's releases. */
  async #listen(command: string, channel: string): Promise<void> {
    this.#subscriptions.get(channel)?.();
    this.#subscriptions.delete(channel);
    if (command === 'unsubscribe') return;
    const end = this.server.subscribe(channel, (text) =>
      this.foreignChannels.message(channel, text),
    );
    this.#subscriptions.set(channel, end);
  }
}

/** Splits a pattern of Redis at each `*`. */
function partsOf(glob: string): string[] {
  const parts = [''];
  for (const [, escaped, sign] of glob.matchAll(/\\(.)|(.)/gs)) {
    if (sign === '*') parts.push('');
    else parts.push(parts.pop()! + (escaped ?? sign!));
  }
  return parts;
}

function failure(
  key: string | undefined,
  says: string,
  outcome: 'unsent' | 'unknown',
): LockStoreError {
  const lock = key === undefined ? '' : ` for lock "${key}"`;
  return new LockStoreError(`The lock store in memory failed${lock}: ${says}.`, { key, outcome });
}
