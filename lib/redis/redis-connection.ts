import { Command, type Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { Pending } from './pending.js';
import { Reconnector } from './reconnector.js';
import { bulk, type Operand } from './resp.js';
import { ScriptBatch } from './script-batch.js';
import { PendingRun, type ScriptRun } from './script-run.js';
import { notSent, refusesAll } from './store-failure.js';
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
  readonly #reconnector: Reconnector;
  /** Where commands are gathered; without one all is as ioredis does it. */
  #batch: WriteBatch | undefined;
  /** Whether runs of a script may leave as one command. */
  #merges = false;

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    private readonly clock: Clock,
  ) {
    this.#underWay = new UnderWay(timeout, clock, () => this.#replace());
    this.#reconnector = new Reconnector(client, clock);
    client.on('close', () => this.#underWay.failAll());
    client.on('end', () => this.#underWay.failAll());
  }

  get ready(): boolean {
    return this.client.status === 'ready';
  }

  /**
   * Tries whether ioredis takes commands that are spelt by us, with one whose spelling is not what it seems
   * to be. From then on scripts are sent that way, and if it `merges` them several runs in one command; if it
   * does not, nothing changes.
   */
  async tryOut(merges = false): Promise<void> {
    const batch = new WriteBatch(this.client);
    let heard = false;
    const answered = (reply: unknown): void => {
      heard = Array.isArray(reply);
    };
    try {
      const wire = `*1\r\n${bulk('time')}`;
      const trial = new WireCommand(
        'time',
        () => wire,
        ['unspelt'],
        SETTLED,
        answered,
        () => {},
      );
      void this.client.sendCommand(trial as unknown as Command, batch as never);
      batch.flush();
    } catch {
      return;
    }
    await this.send('time'); // is answered after the trial
    if (!heard) return;
    this.#batch = batch;
    this.#merges = merges;
  }

  /** Runs a script by its hash; by its text if the server has forgotten it. */
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    if (!this.ready) return Promise.reject(notSent(run.key));
    const { sentAt = this.clock.monotonic() } = run;
    const pending = new PendingRun(run as ScriptRun<unknown>, sentAt);
    if (this.#merges && this.#batch?.add(pending)) {
      this.#underWay.add(pending);
    } else {
      if (run.asking) this.#ask();
      this.#dispatch(pending, this.#commandOf(pending));
    }
    return pending.promise as Promise<Answer>;
  }

  #commandOf(pending: PendingRun): Command {
    if (this.#batch) {
      return new ScriptBatch(pending, this.#runsAnswered, this.#runsFailed) as unknown as Command;
    }
    const { script, keys, args, read } = pending.run;
    return plain(
      'evalsha',
      [script.sha, keys.keys.length, ...keys.keys, ...args],
      (reply) => this.#underWay.answered(pending, reply, read),
      (error) => this.#runFailed(pending, error),
    );
  }

  readonly #runsAnswered = (runs: readonly PendingRun[], reply: unknown): void => {
    if (runs.length === 1) return this.#underWay.answered(runs[0]!, reply, runs[0]!.run.read);
    runs.forEach((pending, nth) => {
      const answer = (reply as unknown[])[nth];
      if (answer instanceof Error) this.#stepFailed(pending, answer);
      else this.#underWay.answered(pending, answer, pending.run.read);
    });
  };

  /** As ioredis does with a command that failed. */
  #stepFailed(pending: PendingRun, error: Error): void {
    if (this.client.options.reconnectOnError?.(error)) this.client.disconnect(true);
    this.#underWay.failed(pending, error);
  }

  readonly #runsFailed = (runs: readonly PendingRun[], error: Error): void => {
    const again = runs.length > 1 && refusesAll(error);
    if (again === 'TOGETHER') this.#merges = false;
    if (again === 'NOSCRIPT') {
      const text = runs[0]!.run.script.merged!.source;
      this.send('eval', [text, 0]).catch(() => {}); // loads it, and runs nothing
    }
    for (const pending of runs) {
      if (again) this.#repeat(pending);
      else this.#runFailed(pending, error);
    }
  };

  #runFailed(pending: PendingRun, error: Error): void {
    if (error.message.includes('NOSCRIPT')) this.#repeat(pending);
    else this.#underWay.failed(pending, error);
  }

  /** Sends a script that the server did not run by its text. */
  #repeat(pending: PendingRun): void {
    if (this.#underWay.over(pending)) return;
    const { script, keys, args, key, wanted, asking, read } = pending.run;
    if (wanted && !wanted()) return pending.reject(notSent(key, 'the caller gave up'));
    const text = [script.source, keys.keys.length, ...keys.keys, ...args];
    if (asking) this.#ask();
    pending.resolve(this.#send('eval', text, key, read));
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
    this.#reconnector.close();
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
