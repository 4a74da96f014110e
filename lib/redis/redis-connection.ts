import { Command, type Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import type { LuaScript } from './lua-script.js';
import type { BatchedScript } from './batched-script.js';
import { Pending } from './pending.js';
import { Reconnector } from './our-client.js';
import { bulk, type Operand } from './resp.js';
import { type Form, ScriptBatch, textOf } from './script-batch.js';
import { PendingRun, type ScriptRun } from './script-run.js';
import { notSent, refusesAll } from './store-failure.js';
import { InFlightCommands } from './in-flight-commands.js';
import { EncodedCommand } from './encoded-command.js';
import { WriteBatch } from './write-batch.js';

const SETTLED = Promise.resolve();
const ENCODING = { replyEncoding: 'utf8' } as const;

/**
 * Our command connection. Every command settles within `timeout`, whatever ioredis or the network
 * does: answered, refused, or failed with what is known of its outcome. Nothing is sent twice.
 */
export class RedisConnection {
  readonly #inFlight: InFlightCommands;
  readonly #reconnector: Reconnector;
  readonly #life = new AbortController();
  /** Where commands are gathered; without one all is as ioredis does it. */
  #batch: WriteBatch | undefined;
  /** Whether runs of a script may leave as one command. */
  #merges = false;
  /** The scripts of which the text is on its way. */
  readonly #loading = new Set<LuaScript<string, string> | BatchedScript>();

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    readonly clock: Clock,
  ) {
    this.#inFlight = new InFlightCommands(timeout, clock, () => this.#replace());
    this.#reconnector = new Reconnector(client, clock);
    client.on('close', () => {
      this.#loading.clear();
      this.#inFlight.failAll();
    });
    client.on('end', () => this.#inFlight.failAll());
  }

  get ready(): boolean {
    return this.client.status === 'ready';
  }

  /** Aborts when it is closed by us. */
  get closed(): AbortSignal {
    return this.#life.signal;
  }

  /**
   * Tries whether ioredis takes commands that are encoded by us, with one whose spelling is not what it seems
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
      const trial = new EncodedCommand(
        'time',
        () => wire,
        ['unencoded'],
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

  /** Runs a script by its hash; if the server has forgotten it, one run takes it the text and the others follow. */
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    if (!this.ready) return Promise.reject(notSent(run.key));
    const { sentAt = this.clock.monotonic() } = run;
    const pending = new PendingRun(run as ScriptRun<unknown>, sentAt);
    this.#inFlight.add(pending);
    if (!this.#joins(pending)) this.#sendRuns([pending], 'hash');
    return pending.promise as Promise<Answer>;
  }

  /** Whether the run leaves with the last command. */
  #joins(pending: PendingRun): boolean {
    return this.#merges && this.#batch !== undefined && this.#batch.add(pending);
  }

  #sendRuns(runs: PendingRun[], form: Form): void {
    const { run } = runs[0]!;
    if (run.asking) this.#ask();
    const text = form === 'text' ? textOf(runs) : undefined;
    if (text) this.#loading.add(text);
    const answered = (reply: unknown): void => {
      if (text) this.#loading.delete(text);
      this.#runsAnswered(runs, reply);
    };
    const failed = (error: Error): void => {
      if (text) this.#loading.delete(text);
      this.#runsFailed(runs, error);
    };
    if (this.#batch) {
      const batch = new ScriptBatch(runs, form, answered, failed) as unknown as Command;
      void this.client.sendCommand(batch, this.#batch as never);
      return;
    }
    const { script, keys, args } = run;
    const [name, what] = text ? ['eval', script.source] : ['evalsha', script.sha];
    this.#write(plain(name!, [what!, keys.keys.length, ...keys.keys, ...args], answered, failed));
  }

  #runsAnswered(runs: readonly PendingRun[], reply: unknown): void {
    if (runs.length === 1) return this.#inFlight.answered(runs[0]!, reply, runs[0]!.run.read);
    runs.forEach((pending, nth) => {
      const answer = (reply as unknown[])[nth];
      if (answer instanceof Error) this.#stepFailed(pending, answer);
      else this.#inFlight.answered(pending, answer, pending.run.read);
    });
  }

  /** As ioredis does with a command that failed. */
  #stepFailed(pending: PendingRun, error: Error): void {
    if (this.client.options.reconnectOnError?.(error)) this.client.disconnect(true);
    this.#inFlight.failed(pending, error);
  }

  #runsFailed(runs: readonly PendingRun[], error: Error): void {
    const why = refusesAll(error);
    if (why === 'NOSCRIPT') return this.#forgotten(runs.filter((run) => this.#isWanted(run)));
    const apart = runs.length > 1 && why !== undefined;
    if (apart && why === 'TOGETHER') this.#merges = false;
    for (const pending of runs) {
      if (!apart) this.#inFlight.failed(pending, error);
      else if (this.#isWanted(pending)) this.#sendRuns([pending], 'alone');
    }
  }

  /** These take the text to the server, unless it is on its way: then they follow by its hash. */
  #forgotten(runs: PendingRun[]): void {
    if (runs.length === 0) return;
    const follows = this.#loading.has(textOf(runs)) && !runs.some(({ repeated }) => repeated);
    for (const pending of runs) {
      pending.repeated = true;
      if (follows && !this.#joins(pending)) this.#sendRuns([pending], 'hash');
    }
    if (!follows) this.#sendRuns(runs, 'text');
  }

  /** Whether a run that the server did not take is sent again. */
  #isWanted(pending: PendingRun): boolean {
    if (!this.#inFlight.waits(pending)) return false;
    const { key, wanted, sentAgain } = pending.run;
    if (!wanted || wanted()) {
      sentAgain?.();
      return true;
    }
    pending.over = true;
    pending.reject(notSent(key, 'the caller gave up'));
    return false;
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
    const answered = (reply: unknown): void => this.#inFlight.answered(pending, reply, read);
    const failed = (error: Error): void => this.#inFlight.failed(pending, error);
    this.#inFlight.add(pending);
    this.#write(plain(name, args, answered, failed));
    return pending.promise as Promise<Answer>;
  }

  /** Once there is a batch, every command goes through it: none passes another on its way to the socket. */
  #write(command: Command): void {
    void this.client.sendCommand(command, this.#batch as never);
  }

  /** A connection on which nothing has been heard since an unanswered command is taken for half-open. */
  #replace(): void {
    if (this.ready) this.client.disconnect(true);
  }

  close(): void {
    this.#life.abort();
    this.#reconnector.close();
    this.#inFlight.close();
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
