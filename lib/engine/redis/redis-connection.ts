import { Command, type Redis } from 'ioredis';
import { type Clock, MODULE_DEFAULTS } from '../options/index.js';
import { InFlightCommand, InFlightCommands } from './in-flight-commands.js';
import { LuaScript, type ScriptRun } from './lua-script.js';
import { reconnectEnded } from './ioredis-workarounds.js';
import { KeyList, type Operand } from './resp.js';
import { type BatchOwner, type Form, InFlightRun, ScriptBatch } from './script-batch.js';
import { notSent, refusesAll } from './store-failure.js';
import { WriteBatch } from './write-batch.js';

/** A script whose answer is known: it shows whether a server runs scripts, and whether ioredis takes our own encoding. */
export const trial = new LuaScript("return redis.call('TIME')");

const ENCODING = { replyEncoding: 'utf8' } as const;

/**
 * The command connection. Every command settles within `timeout`, whatever ioredis or the network does: answered, refused,
 * or failed with what is known of its outcome. No command that may have run is sent twice.
 */
export class RedisConnection implements BatchOwner {
  readonly #unanswered: InFlightCommands;
  /** Disconnects for good. */
  readonly #disconnect: () => void;
  readonly #closing = new AbortController();
  /** Aborts when the library closes the connection. */
  readonly closed: AbortSignal = this.#closing.signal;
  /** The last socket that was replaced. */
  #replaced: unknown;
  /** Gathers commands; undefined while ioredis encodes and writes each. */
  #batch: WriteBatch | undefined;
  /** Whether several runs of a script may leave as one command. */
  #merges = false;
  /** The scripts whose text is on its way to the server. */
  readonly #loading = new Set<LuaScript>();

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    readonly clock: Clock,
    /** How long the first connection may take, in ms. */
    readonly connectTimeout: number = MODULE_DEFAULTS.connectTimeout,
  ) {
    this.#unanswered = new InFlightCommands(timeout, clock, () => this.replace());
    this.#disconnect = reconnectEnded(client, clock);
    client.on('close', () => {
      this.#loading.clear();
      this.#unanswered.failAll();
    });
    client.on('end', () => this.#unanswered.failAll());
  }

  /** Whether {@link tryOut} found that ioredis has to encode the commands. */
  get fallsBack(): boolean {
    return this.#batch === undefined;
  }

  get lastAnswerAt(): number {
    return this.#unanswered.lastAnswerAt;
  }

  /** Whether a command can be sent; ioredis also calls a socket ready that is ending, and takes no more. */
  get ready(): boolean {
    return this.client.status === 'ready' && this.client.stream?.writable === true;
  }

  /**
   * Tries whether ioredis takes commands that the library encodes. If it does, scripts are sent that way from now on, and
   * with `merges` several runs in one command. If it does not, nothing changes.
   */
  async tryOut(merges = false): Promise<void> {
    const batch = new WriteBatch(this.client);
    if (!(await this.#takesEncoded(batch))) return;
    this.#batch = batch;
    this.#merges = merges;
  }

  /** Redis would refuse the trial as ioredis encodes it, with the arguments that tracing sees. */
  async #takesEncoded(batch: WriteBatch): Promise<boolean> {
    const keys = new KeyList([]);
    const run = new InFlightRun({ script: trial, keys, args: [], read: (reply) => reply }, 0);
    let isTaken = false;
    const end = (taken: boolean): void => {
      isTaken = taken;
      run.resolve(taken);
    };
    const owner: BatchOwner = {
      answered: (_, reply) => end(Array.isArray(reply)),
      failed: () => end(false),
    };
    try {
      const sent = new ScriptBatch([run], 'text', owner);
      settled(sent, this.client.sendCommand(sent as unknown as Command, batch as never));
      batch.flush();
    } catch {
      return false;
    }
    await this.send('time'); // Redis answers this command after the trial
    return isTaken;
  }

  /** Runs a script by its hash. If the server has forgotten it, one run takes the text there and the others follow. */
  run<Answer>(run: ScriptRun<Answer>): Promise<Answer> {
    if (!this.ready) return Promise.reject(notSent(run.key));
    const { sentAt = this.clock.monotonic() } = run;
    const inFlight = new InFlightRun(run as ScriptRun<unknown>, sentAt);
    this.#unanswered.add(inFlight);
    if (!this.#joins(inFlight)) this.#sendRuns([inFlight], 'hash');
    return inFlight.promise as Promise<Answer>;
  }

  /** Sends one command, which settles within `timeout`. */
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

  /** Lets the run leave with the last command; false if it cannot. */
  #joins(inFlight: InFlightRun): boolean {
    return this.#merges && this.#batch !== undefined && this.#batch.add(inFlight);
  }

  #sendRuns(runs: InFlightRun[], form: Form): void {
    const { run } = runs[0]!;
    if (run.asking) this.send('asking').catch(() => {}); // if this command fails, so does the run
    if (form === 'text') this.#loading.add(run.script);
    const batch = new ScriptBatch(runs, form, this);
    if (this.#batch) {
      try {
        settled(batch, this.client.sendCommand(batch as unknown as Command, this.#batch as never));
      } catch (error) {
        this.failed(batch, error as Error); // a wrapper of ioredis threw this error
      }
      return;
    }
    const { script } = run;
    const what = form === 'text' ? script.source : script.sha;
    this.#sendPlain(batch.name, [what, ...script.operands(run)], batch.resolve, batch.reject);
  }

  /**
   * Sends a command as ioredis encodes it. Once there is a batch, every command goes through it, so that none overtakes
   * another on its way to the socket.
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
      failed(error as Error); // a wrapper of ioredis threw this error
    }
  }

  /** Called by a batch that was answered. */
  answered({ runs, form }: ScriptBatch, reply: unknown): void {
    const { script } = runs[0]!.run;
    if (form === 'text') this.#loading.delete(script);
    for (let nth = 0; nth < runs.length; nth += 1) {
      const answer = script.replyTo(nth, runs.length, reply);
      if (!(answer instanceof Error)) {
        this.#unanswered.answered(runs[nth]!, answer);
        continue;
      }
      // Here, as ioredis does for each failed command, `reconnectOnError` decides on the connection.
      if (this.client.options.reconnectOnError?.(answer)) this.client.disconnect(true);
      this.#unanswered.failed(runs[nth]!, answer);
    }
  }

  /** Called by a batch that failed. */
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

  /** Sends these runs with the script's text; by its hash, if the text is on its way already. */
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
    this.#unanswered.giveUp(inFlight, notSent(key, 'the caller gave up'));
    return false;
  }

  /**
   * Replaces a connection that seems half-open, as no reply arrives that should. Its socket ends a little later, and
   * ioredis adds a listener to it with each call: one call is enough.
   */
  replace(): void {
    const { status, stream } = this.client;
    if (status !== 'ready' || stream === this.#replaced) return;
    this.#replaced = stream;
    this.client.disconnect(true);
  }

  close(): void {
    this.#closing.abort();
    this.#disconnect();
    this.#unanswered.close();
  }
}

/** Drops the errors of a promise that a wrapper of ioredis made, such as a tracer: the command settles by itself. */
function settled(command: Command | ScriptBatch, promise: unknown): void {
  if (promise !== command.promise) Promise.resolve(promise).catch(() => {});
}
