import { Command, type Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { Pending } from './pending.js';
import { bulk, type Operand } from './resp.js';
import type { ScriptRun } from './script-run.js';
import { notSent } from './store-failure.js';
import { UnderWay } from './under-way.js';
import { WireCommand } from './wire-command.js';
import { WriteBatch } from './write-batch.js';

const SETTLED = Promise.resolve();
const ENCODING = { replyEncoding: 'utf8' } as const;

/**
 * Our command connection. Every command settles within `timeout`, whatever ioredis or the network
 * does: answered, refused, or failed with what is known of its outcome. Nothing is sent twice.
 */
export class RedisConnection {
  readonly #underWay: UnderWay;
  /** Where commands are gathered; without one all is as ioredis does it. */
  #batch: WriteBatch | undefined;

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    private readonly clock: Clock,
  ) {
    this.#underWay = new UnderWay(timeout, clock, () => this.#replace());
    client.on('close', () => this.#underWay.failAll());
    client.on('end', () => this.#underWay.failAll());
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
    const answered = (reply: unknown): void => this.#underWay.answered(pending, reply, read);
    const failed = (error: Error): void => {
      if (!error.message.includes('NOSCRIPT')) return this.#underWay.failed(pending, error);
      if (this.#underWay.over(pending)) return;
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
    const answered = (reply: unknown): void => this.#underWay.answered(pending, reply, read);
    const failed = (error: Error): void => this.#underWay.failed(pending, error);
    this.#dispatch(pending, plain(name, args, answered, failed));
    return pending.promise as Promise<Answer>;
  }

  /** Once there is a batch, every command goes through it: none passes another on its way to the socket. */
  #dispatch(pending: Pending, command: Command): void {
    this.#underWay.add(pending);
    void this.client.sendCommand(command, this.#batch as never);
  }

  /** A connection on which nothing has been heard since an unanswered command is taken for half-open. */
  #replace(): void {
    if (this.ready) this.client.disconnect(true);
  }

  close(): void {
    this.client.disconnect();
    this.#underWay.close();
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
