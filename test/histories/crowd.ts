import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkChild } from '../../tools/children.js';
import { compiledWorkers } from '../support/compiled-workers.js';
import { monotonic } from '../support/monotonic.js';
import { SleptClock } from '../support/slept-clock.js';
import { until } from '../support/until.js';
import type { Granted, Play, Progress } from './player.js';

/** How long a process may take to start, to answer and to end, in ms: minutes, where others have the processors. */
const PATIENCE = 300_000;
/** So often a lock is granted until it counts as one that goes on: ends that a server has not heard cost a lapse each. */
const TURNS = 10;
/** So many characters of what a process writes are kept. */
const SAID = 2_000;

/** One process of a history. */
export class PlayerProcess {
  operations = 0;
  failure = '';
  /** Since when it is stopped. */
  stopped: number | undefined;
  readonly exited: Promise<unknown>;
  readonly grants: Granted[] = [];
  #slept = 0;
  #ahead = 0;
  /** The end of what it wrote to its console. */
  #said = '';
  #over = false;

  private constructor(
    private readonly child: ChildProcess,
    private readonly play: Play,
  ) {
    this.exited = once(child, 'exit');
    child.stderr!.on('data', (said: Buffer) => {
      this.#said = `${this.#said}${String(said)}`.slice(-SAID);
      process.stderr.write(said);
    });
    child.on('message', (message: { progress?: Progress }) => {
      if (!message.progress) return;
      const { operations, grants, failure } = message.progress;
      Object.assign(this, { operations, failure });
      this.grants.push(...grants);
    });
  }

  static async start(play: Play, ioredis: number): Promise<PlayerProcess> {
    SleptClock.make(join(play.folder, `${play.name}.clock`));
    const main = join(compiledWorkers(), 'test/histories/player-main.js');
    const env = { ...process.env, IOREDIS: String(ioredis) };
    const child = forkChild(main, [JSON.stringify(play)], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const player = new PlayerProcess(child, play);
    await player.#hears('ready');
    return player;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get name(): string {
    return this.play.name;
  }

  async tell(command: 'stall' | 'restart', ms?: number): Promise<void> {
    this.child.send({ command, ms });
    await this.#hears('done');
  }

  /** Resolves with the calls that never end. */
  async end(): Promise<string[]> {
    if (this.#over) return [];
    if (!this.child.connected) throw this.#gone();
    this.#over = true;
    this.child.send({ command: 'end' });
    const open = (await this.#hears('ended')) as string[];
    await this.exited;
    return open;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGSTOP');
    const state = (): string =>
      execFileSync('ps', ['-o', 'state=', '-p', String(this.pid)], { encoding: 'utf8' });
    await until('it stands still', () => state().startsWith('T'));
    this.stopped = monotonic();
  }

  /** `slept`: its machine did, so its monotonic clock has seen nothing of it. */
  goOn(slept = false): void {
    if (slept) {
      this.#slept += monotonic() - this.stopped!;
      this.#setClock();
    }
    this.stopped = undefined;
    this.child.kill('SIGCONT');
  }

  /** Its wall clock is so many ms ahead of others from now on. */
  setWall(ahead: number): void {
    this.#ahead = ahead;
    this.#setClock();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  #setClock(): void {
    SleptClock.set(join(this.play.folder, `${this.name}.clock`), this.#slept, this.#ahead);
  }

  /** It ended by itself. */
  #gone(): Error {
    const { exitCode, signalCode } = this.child;
    return new Error(`${this.name} is gone: ${signalCode ?? exitCode}. ${this.#said}`);
  }

  #hears(what: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => settle(new Error(`${this.name}: no "${what}"`)), PATIENCE);
      const onMessage = (message: Record<string, unknown>): void => {
        if (what in message) settle(undefined, message[what]);
      };
      // What it said last is heard before this, and may be heard after its exit.
      const onEnd = (): void => void this.exited.then(() => settle(this.#gone()));
      const settle = (error?: Error, heard?: unknown): void => {
        clearTimeout(late);
        this.child.off('message', onMessage).off('disconnect', onEnd);
        if (error) reject(error);
        else resolve(heard);
      };
      this.child.on('message', onMessage).on('disconnect', onEnd);
    });
  }
}

/** The processes of a history, which all want the same locks, and what became of them. */
export class Crowd {
  readonly players: PlayerProcess[] = [];
  /** When they died, by name: they believed nothing any more. */
  readonly killed = new Map<string, number>();
  /** When they stood still, by name: they may have heard of a grant when it was over. */
  readonly #stops = new Map<string, { readonly from: number; to: number }[]>();
  readonly names: string[] = [];
  /** What was done by those who are gone. */
  readonly #before = { operations: 0, grants: [] as Granted[] };

  constructor(
    private readonly ioredis: number,
    /** What the process at this place plays; `nth` is how many were started. */
    private readonly playOf: (place: number, nth: number) => Play,
  ) {}

  async start(size: number): Promise<void> {
    const joined = Array.from({ length: size }, (_, at) => this.#join(at));
    await Promise.allSettled(joined); // none starts when all are over
    await Promise.all(joined);
  }

  get operations(): number {
    return this.players.reduce((sum, each) => sum + each.operations, this.#before.operations);
  }

  get grants(): readonly Granted[] {
    return [...this.#before.grants, ...this.players.flatMap((player) => player.grants)];
  }

  async kill(at: number): Promise<void> {
    const player = this.players[at]!;
    this.killed.set(player.name, player.stopped ?? monotonic());
    await player.kill();
    this.#before.operations += player.operations;
    this.#before.grants.push(...player.grants);
    await this.#join(at);
  }

  /** Stops one while something happens. */
  async during(at: number, slept: boolean, work: () => Promise<unknown>): Promise<void> {
    const player = this.players[at]!;
    await this.standingStill(player, async () => {
      await player.stop();
      await work().finally(() => player.goOn(slept));
    });
  }

  /** One stands still at times of this work. */
  async standingStill(player: PlayerProcess, work: () => Promise<unknown>): Promise<void> {
    const stop = { from: monotonic(), to: Infinity };
    this.#stops.set(player.name, [...(this.#stops.get(player.name) ?? []), stop]);
    await work().finally(() => (stop.to = monotonic()));
  }

  /** How often one stood still between these moments. */
  stopsOf(name: string, from: number, to: number): number {
    const stops = this.#stops.get(name) ?? [];
    return stops.filter((stop) => stop.from < to && stop.to > from).length;
  }

  /**
   * Resolves when each process was granted a lock after a moment, and each of these locks was granted as often as `TURNS` says,
   * with how long the last took for it.
   */
  async goesOn(from: number, within: number, locks: readonly string[] = []): Promise<number> {
    const recovered = (): number[] => {
      const since = this.grants.filter(({ at }) => at > from).sort((a, b) => a.at - b.at);
      return [
        ...this.players.map(({ grants }) => grants.find(({ at }) => at > from)),
        ...locks.map((lock) => since.filter(({ key }) => key === lock)[TURNS - 1]),
      ].map((granted) => granted?.at ?? Infinity);
    };
    const all = (): boolean => Math.max(...recovered()) < Infinity;
    await until('each process is granted a lock, and each lock', all, within).catch(
      (error: unknown) => {
        const failures = this.players.map(({ failure }) => failure).join('; ');
        throw new Error(`${String(error)} The last failures: ${failures}`, { cause: error });
      },
    );
    return Math.max(...recovered()) - from;
  }

  /** Resolves with the calls that never end. */
  async end(): Promise<string[]> {
    return (await Promise.all(this.players.map((player) => player.end()))).flat();
  }

  async killAll(): Promise<void> {
    await Promise.all(this.players.map((player) => player.kill()));
  }

  async #join(at: number): Promise<void> {
    const play = this.playOf(at, this.names.length);
    this.names.push(play.name);
    this.players[at] = await PlayerProcess.start(play, this.ioredis);
  }
}
