import { Command, type Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import type { LuaScript } from './lua-script.js';
import { Pending, PendingCommands } from './pending.js';
import { bulk, decoded, type KeyList, type Operand } from './resp.js';
import { noAnswer, notSent, storeFailure } from './store-failure.js';
import { WireCommand } from './wire-command.js';
import { WriteBatch } from './write-batch.js';

const SETTLED = Promise.resolve();
const ENCODING = { replyEncoding: 'utf8' } as const;

/** One run of a script. */
export interface ScriptRun<Answer> {
  readonly script: LuaScript<string, string>;
  readonly keys: KeyList;
  readonly args: readonly Operand[];
  /** The lock's key, for messages. */
  readonly key?: string | undefined;
  /** When it is sent (monotonic ms), if that is known already. */
  readonly sentAt?: number;
  /** False as soon as nobody needs the run any more: it is not repeated as EVAL then. */
  readonly wanted?: () => boolean;
  /** ASKING goes before it: the slot of its keys is still on its way to this node of a Cluster. */
  readonly asking?: boolean;
  /** Of an answer that counts only when replicas have what was written: what it is, or throws, when too few do. */
  readonly unconfirmed?: (answer: Answer, error: Error) => Answer;
  /** What Redis' reply means; strings in it are strings. May throw what the run rejects with. */
  readonly read: (reply: unknown, receivedAt: number) => Answer;
}

/**
 * Our command connection. Every command settles within `timeout`, whatever ioredis or the network
 * does: answered, refused, or failed with what is known of its outcome. Nothing is sent twice.
 */
export class RedisConnection {
  readonly #pending = new PendingCommands();
  /** Where commands are gathered; without one all is as ioredis does it. */
  #batch: WriteBatch | undefined;
  #cancelTimer: (() => void) | undefined;
  #lastAnswerAt = 0;

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    private readonly clock: Clock,
  ) {
    client.on('close', () => this.#failAll());
    client.on('end', () => this.#failAll());
  }

  get ready(): boolean {
    return this.client.status === 'ready';
  }

  /**
   * Tries whether ioredis takes commands that are spelt already, with one whose spelling is not what it
   * seems to be. From then on scripts are sent that way; if it does not, nothing changes.
   */
  async tryOut(): Promise<void> {
    const batch = new WriteBatch(this.client);
    let heard = false;
    const answered = (reply: unknown): void => {
      heard = Array.isArray(reply);
    };
    try {
      const wire = `*1\r\n${bulk('time')}`;
      const trial = new WireCommand('time', wire, ['unspelt'], SETTLED, answered, () => {});
      void this.client.sendCommand(trial as unknown as Command, batch as never);
      batch.flush();
    } catch {
      return;
    }
    await this.send('time'); // is answered after the trial
    if (heard) this.#batch = batch;
  }

  /** Runs a script by its hash; by its text if the server has forgotten it. */
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    const { script, keys, args, key, sentAt = this.clock.monotonic(), wanted, read } = run;
    if (!this.ready) return Promise.reject(notSent(key));
    const pending = new Pending(key, sentAt);
    const answered = (reply: unknown): void => this.#answered(pending, reply, read);
    const failed = (error: Error): void => {
      if (!error.message.includes('NOSCRIPT')) return this.#failed(pending, error);
      if (this.#over(pending)) return;
      if (wanted && !wanted()) {
        pending.reject(notSent(key, 'the caller gave up'));
      } else {
        const text = [script.source, keys.keys.length, ...keys.keys, ...args];
        if (run.asking) this.#ask();
        pending.resolve(this.#send('eval', text, key, read));
      }
    };
    const command = this.#batch
      ? new WireCommand(
          'evalsha',
          script.wire(keys, args),
          script.traced,
          pending.promise,
          answered,
          failed,
        )
      : plain('evalsha', [script.sha, keys.keys.length, ...keys.keys, ...args], answered, failed);
    if (run.asking) this.#ask();
    this.#dispatch(pending, command as Command);
    return pending.promise as Promise<Answer>;
  }

  /** Sends one command under the bounds of this connection. */
  send(name: string, args: readonly Operand[] = []): Promise<unknown> {
    return this.#send(name, args, undefined, (reply) => reply);
  }

  /** Counts for the next command only. */
  #ask(): void {
    this.send('asking').catch(() => {}); // the command itself fails then
  }

  #send<Answer>(
    name: string,
    args: readonly Operand[],
    key: string | undefined,
    read: ScriptRun<Answer>['read'],
  ): Promise<Answer> {
    if (!this.ready) return Promise.reject(notSent(key));
    const pending = new Pending(key, this.clock.monotonic());
    const answered = (reply: unknown): void => this.#answered(pending, reply, read);
    const failed = (error: Error): void => this.#failed(pending, error);
    this.#dispatch(pending, plain(name, args, answered, failed));
    return pending.promise as Promise<Answer>;
  }

  /** Once there is a batch, every command goes through it: none passes another on its way to the socket. */
  #dispatch(pending: Pending, command: Command): void {
    this.#pending.add(pending);
    void this.client.sendCommand(command, this.#batch as never);
    if (!this.#cancelTimer) this.#watch(this.timeout);
  }

  #answered(pending: Pending, reply: unknown, read: ScriptRun<unknown>['read']): void {
    if (this.#over(pending)) return;
    try {
      pending.resolve(read(decoded(reply), this.#lastAnswerAt));
    } catch (error) {
      pending.reject(error);
    }
  }

  #failed(pending: Pending, error: unknown): void {
    if (!this.#over(pending)) pending.reject(storeFailure(error, pending.key));
  }

  /** Something came for this command. True if it had been given up before. */
  #over(pending: Pending): boolean {
    this.#lastAnswerAt = this.clock.monotonic();
    const { over } = pending;
    pending.over = true;
    return over;
  }

  #watch(ms: number): void {
    this.#cancelTimer = deadline(this.clock, ms, () => {
      this.#cancelTimer = undefined;
      const now = this.clock.monotonic();
      for (let pending = this.#pending.first; pending; pending = this.#pending.first) {
        const left = pending.sentAt + this.timeout - now;
        if (left > 0) return this.#watch(left);
        this.#giveUp(pending, noAnswer(pending.key, this.timeout));
        this.#replaceIfSilentSince(pending.sentAt);
      }
    });
  }

  /** A connection on which nothing has been heard since an unanswered command is taken for half-open. */
  #replaceIfSilentSince(sentAt: number): void {
    if (this.#lastAnswerAt < sentAt && this.ready) this.client.disconnect(true);
  }

  #giveUp(pending: Pending, error: Error): void {
    pending.over = true;
    pending.reject(error);
  }

  #failAll(): void {
    for (let pending = this.#pending.first; pending; pending = this.#pending.first) {
      this.#giveUp(pending, storeFailure(new Error('closed'), pending.key));
    }
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.client.disconnect();
    this.#failAll();
  }
}

/** A command as ioredis makes it. */
function plain(
  name: string,
  args: readonly Operand[],
  answered: (reply: unknown) => void,
  failed: (error: Error) => void,
): Command {
  return new Command(name, args as Operand[], ENCODING, (error, reply) =>
    error ? failed(error) : answered(reply),
  );
}
