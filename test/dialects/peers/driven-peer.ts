import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { startChild } from '../../../tools/children.js';
import type { LockDialect } from '../../../lib/engine/options/index.js';
import type { Peer, PeerClient, Turn } from './peer.js';

/** A library in a process of its own, with which the tests talk: a line of JSON a question, another an answer. */
export interface Driver {
  readonly name: string;
  readonly dialect: LockDialect;
  readonly shortest: number;
  /** It has an answer to `wait`. */
  readonly waits?: boolean;
  /** Makes what it needs, the first time; answers with what is missing for that. */
  readonly prepare?: () => string | undefined;
  readonly program: string;
  /** What the program runs, beside this file; not needed by one that is the peer itself. */
  readonly script?: string;
  /** What it is told beside the ports of its servers. */
  readonly args?: readonly string[];
}

/** A client in a process of its own. Those for the JVM answer all of these. */
export interface DrivenClient extends PeerClient {
  wait(name: string): Promise<boolean>;
  /** Has it by the library's own renewal to `ttl` ms. */
  keep(name: string, ttl: number): Promise<boolean>;
  /** Lengthens its lease once. */
  renew(name: string, ttl: number): Promise<boolean>;
  /** Of what it holds. */
  token(name: string): Promise<number>;
  /** Has the lock, adds 1 to what stands at `value:<name>`, and gives it back; null where it is taken. */
  turn(name: string, ttl: number): Promise<Turn | null>;
  /** The same, where it waits for the lock. */
  nextTurn(name: string): Promise<Turn | null>;
}

export interface DrivenPeer extends Peer {
  connect(...urls: readonly string[]): Promise<DrivenClient>;
}

export function drivenPeer(driver: Driver): DrivenPeer {
  const { name, dialect, shortest, waits = false, prepare } = driver;
  return {
    name,
    dialect,
    shortest,
    waits,
    get missing() {
      return prepare && lackedBy(prepare);
    },
    connect: (...urls) => connect(driver, urls),
  };
}

type Preparation = NonNullable<Driver['prepare']>;
const preparations = new Map<Preparation, string | undefined>();

/** What was missing for a preparation, which is made once. Nothing may be where a submission is judged. */
function lackedBy(prepare: Preparation): string | undefined {
  if (!preparations.has(prepare)) preparations.set(prepare, prepare());
  const missing = preparations.get(prepare);
  if (missing !== undefined && process.env['CI']) throw new Error(missing);
  return missing;
}

async function connect(
  { program, script, args = [] }: Driver,
  urls: readonly string[],
): Promise<DrivenClient> {
  const path = script === undefined ? [] : [resolve('test/dialects/peers', script)];
  const ports = urls.map((url) => new URL(url).port).join();
  const child = startChild(program, [...path, ports, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const asked = conversation<unknown>(child);
  const ask = async <Answer = boolean>(question: object): Promise<Answer> =>
    (await asked(question)) as Answer;
  await ask({ ask: 'hello' });
  return {
    acquire: (name, ttl) => ask({ ask: 'acquire', name, ttl }),
    release: (name) => ask({ ask: 'release', name }),
    wait: (name) => ask({ ask: 'wait', name }),
    keep: (name, ttl) => ask({ ask: 'keep', name, ttl }),
    renew: (name, ttl) => ask({ ask: 'renew', name, ttl }),
    token: (name) => ask<number>({ ask: 'token', name }),
    turn: (name, ttl) => ask<Turn | null>({ ask: 'turn', name, ttl }),
    nextTurn: (name) => ask<Turn | null>({ ask: 'next turn', name }),
    close: () => ended(child),
  };
}

/** Asks one question after the other. Resolves to what was answered; rejects once the peer has ended. */
export function conversation<Answer>(child: ChildProcess): (question: object) => Promise<Answer> {
  const open: { answered: (answer: Answer) => void; failed: (error: Error) => void }[] = [];
  let ended: Error | undefined;
  const end = (why: unknown): void => {
    ended ??= new Error(`The peer ended: ${String(why)}.`);
    for (const { failed } of open.splice(0)) failed(ended);
  };
  createInterface({ input: child.stdout! }).on('line', (line) => {
    open.shift()?.answered(JSON.parse(line) as Answer);
  });
  child.once('exit', (code, signal) => end(code ?? signal));
  child.once('error', end);
  child.stdin!.on('error', () => {}); // that nobody reads any more is told by the end
  return (question) =>
    new Promise((answered, failed) => {
      if (ended) return failed(ended);
      open.push({ answered, failed });
      child.stdin!.write(`${JSON.stringify(question)}\n`);
    });
}

/** Without a word, as in a crash. */
export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
