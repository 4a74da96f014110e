import { Command, type Redis } from 'ioredis';
import { type Clock, MODULE_DEFAULTS } from '../options/index.js';
import { InFlightCommand, InFlightCommands } from './in-flight-commands.js';
import type { LuaScript, ScriptRun } from './lua-script.js';
import { Reconnector } from './ioredis-workarounds.js';
import { bulk, type Operand } from './resp.js';
import {
  type BatchOwner,
  EncodedCommand,
  type Form,
  InFlightRun,
  ScriptBatch,
} from './script-batch.js';
import { notSent, refusesAll } from './store-failure.js';
import { WriteBatch } from './write-batch.js';

const SETTLED = Promise.resolve();

/** Its text is not what ioredis would make of it: it is answered with a time only where it is sent as we encode it. */
class Trial extends EncodedCommand {
  isTaken = false;

  constructor() {
    super('time', ['unencoded'], SETTLED);
  }

  override encoded(): string {
    return `*1\r\n${bulk('time')}`;
  }

  override answered(reply: unknown): void {
    this.isTaken = Array.isArray(reply);
  }

  override failed(): void {}
}

const ENCODING = { replyEncoding: 'utf8' } as const;

/**
 * Our command connection. Every command settles within `timeout`, whatever ioredis or the network
 * does: answered, refused, or failed with what is known of its outcome. Nothing is sent twice.
 */
export class RedisConnection implements BatchOwner {
  readonly #unanswered: InFlightCommands;
  readonly #reconnector: Reconnector;
  readonly #closing = new AbortController();
  /** Aborts when it is closed by us. */
  readonly closed: AbortSignal = this.#closing.signal;
  /** The last socket that was replaced. */
  #replaced: unknown;
  /** Where commands are gathered; without one all is as ioredis does it. */
  #batch: WriteBatch | undefined;
  /** Whether runs of a script may leave as one command. */
  #merges = false;
  /** Whether it was found by {@link tryOut} that commands have to go as ioredis encodes them. */
  fallsBack = false;
  /** The scripts of which the text is on its way. */
  readonly #loading = new Set<LuaScript>();

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    readonly clock: Clock,
    /** How long it may take to be there for the first time, in ms. */
    readonly connectTimeout: number = MODULE_DEFAULTS.connectTimeout,
  ) {
    this.#unanswered = new InFlightCommands(timeout, clock, () => this.replace());
    this.#reconnector = new Reconnector(client, clock);
    client.on('close', () => {
      this.#loading.clear();
      this.#unanswered.failAll();
    });
    client.on('end', () => this.#unanswered.failAll());
  }

  /** When the last answer came, in monotonic ms; undefined before the first. */
  get lastAnswerAt(): number | undefined {
    return this.#unanswered.lastAnswerAt;
  }

  /** A socket that ends takes nothing any more, and ioredis calls it ready until it has closed. */
  get ready(): boolean {
    return this.client.status === 'ready' && this.client.stream?.writable === true;
  }

  /**
   * Tries whether ioredis takes commands that are encoded by us. From then on scripts are sent that way, and if it `merges`
   * them several runs in one command; if it does not, nothing changes.
   */
  async tryOut(merges = false): Promise<void> {
    const batch = new WriteBatch(this.client);
    this.fallsBack = !(await this.#takesEncoded(batch));
    if (this.fallsBack) return;
    this.#batch = batch;
    this.#merges = merges;
  }

  async #takesEncoded(batch: WriteBatch): Promise<boolean> {
    const trial = new Trial();
    try {
      void this.client.sendCommand(trial as unknown as Command, batch as never);
      batch.flush();
    } catch {
      return false;
    }
    await this.send('time'); // is answered after the trial
    return trial.isTaken;
  }

  /** Runs a script by its hash; if the server has forgotten it, one run takes it the text and the others follow. */
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    if (!this.ready) return Promise.reject(notSent(run.key));
    const { sentAt = this.clock.monotonic() } = run;
    const inFlight = new InFlightRun(run as ScriptRun<unknown>, sentAt);
    this.#unanswered.add(inFlight);
    if (!this.#joins(inFlight)) this.#sendRuns([inFlight], 'hash');
    return inFlight.promise as Promise<Answer>;
  }

  /** Sends one command under the bounds of this connection. */
  send(name: string, args: readonly Operand[] = []): Promise<unknown> {
    if (!this.ready) return Promise.reject(notSent(undefined));
    const command = new InFlightCommand(undefined, this.clock.monotonic());
    this.#unanswered.add(command);
    this.#sendPlain(
      name,
      args,
      (reply) => this.#unanswered.answered(command, reply),
      (error) => this.#unanswered.failed(command, error),
    );
    return command.promise;
  }

  /** Whether the run leaves with the last command. */
  #joins(inFlight: InFlightRun): boolean {
    return this.#merges && this.#batch !== undefined && this.#batch.add(inFlight);
  }

  #sendRuns(runs: InFlightRun[], form: Form): void {
    const { run } = runs[0]!;
    if (run.asking) this.send('asking').catch(() => {}); // the command itself fails then
    if (form === 'text') this.#loading.add(run.script);
    const batch = new ScriptBatch(runs, form, this);
    if (this.#batch) {
      try {
        settled(batch, this.client.sendCommand(batch as unknown as Command, this.#batch as never));
      } catch (error) {
        this.failed(batch, error as Error); // of what wraps ioredis
      }
      return;
    }
    const { script } = run;
    const what = form === 'text' ? script.source : script.sha;
    this.#sendPlain(
      batch.name,
      [what, ...script.operands(run)],
      (reply) => this.answered(batch, reply),
      (error) => this.failed(batch, error),
    );
  }

  /**
   * Sends a command as ioredis makes it. Once there is a batch, every command goes through it: none passes another on its
   * way to the socket.
   */
  #sendPlain(
    name: string,
    args: readonly Operand[],
    answered: (reply: unknown) => void,
    failed: (error: Error) => void,
  ): void {
    const command = new Command(name, args as Operand[], ENCODING, (error, reply) =>
      error ? failed(error) : answered(reply),
    );
    try {
      settled(command, this.client.sendCommand(command, this.#batch as never));
    } catch (error) {
      failed(error as Error); // of what wraps ioredis
    }
  }

  /** Called by a batch that left. */
  answered({ runs, form }: ScriptBatch, reply: unknown): void {
    const { script } = runs[0]!.run;
    if (form === 'text') this.#loading.delete(script);
    for (let nth = 0; nth < runs.length; nth += 1) {
      const answer = script.replyTo(nth, runs.length, reply);
      if (!(answer instanceof Error)) {
        this.#unanswered.answered(runs[nth]!, answer);
        continue;
      }
      // As ioredis does with a command that failed.
      if (this.client.options.reconnectOnError?.(answer)) this.client.disconnect(true);
      this.#unanswered.failed(runs[nth]!, answer);
    }
  }

  /** The same. */
  failed({ runs, form }: ScriptBatch, error: Error): void {
    if (form === 'text') this.#loading.delete(runs[0]!.run.script);
    const why = refusesAll(error);
    if (why === 'NOSCRIPT') return this.#forgotten(runs.filter((each) => this.#isWanted(each)));
    const apart = runs.length > 1 && why !== undefined;
    if (apart && why === 'TOGETHER') this.#merges = false;
    for (const inFlight of runs) {
      if (!apart) this.#unanswered.failed(inFlight, error);
      else if (this.#isWanted(inFlight)) this.#sendRuns([inFlight], 'alone');
    }
  }

  /** These take the text to the server, unless it is on its way: then they follow by its hash. */
  #forgotten(runs: InFlightRun[]): void {
    if (runs.length === 0) return;
    const follows =
      this.#loading.has(runs[0]!.run.script) && !runs.some(({ repeated }) => repeated);
    for (const inFlight of runs) {
      inFlight.repeated = true;
      if (follows && !this.#joins(inFlight)) this.#sendRuns([inFlight], 'hash');
    }
    if (!follows) this.#sendRuns(runs, 'text');
  }

  /** Whether a run that the server did not take is sent again. */
  #isWanted(inFlight: InFlightRun): boolean {
    if (!this.#unanswered.received(inFlight)) return false;
    const { key, wanted, sentAgain } = inFlight.run;
    if (!wanted || wanted()) {
      sentAgain?.();
      return true;
    }
    inFlight.giveUp(notSent(key, 'the caller gave up'));
    return false;
  }

  /**
   * For a connection that is taken for half-open: nothing is received on it that should be. Its socket ends a little later,
   * and ioredis listens to it once more each time it is told.
   */
  replace(): void {
    const { status, stream } = this.client;
    if (status !== 'ready' || stream === this.#replaced) return;
    this.#replaced = stream;
    this.client.disconnect(true);
  }

  close(): void {
    this.#closing.abort();
    this.#reconnector.close();
    this.#unanswered.close();
  }
}

/** A command is answered by itself: of a promise that something around ioredis made, a tracer say, nobody hears. */
function settled(command: Command | ScriptBatch, promise: unknown): void {
  if (promise !== command.promise) Promise.resolve(promise).catch(() => {});
}
