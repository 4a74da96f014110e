import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { LockDialect } from '../../../lib/options/index.js';
import type { Peer, PeerClient } from './peer.js';

/** A library of another language: a script beside this file speaks for it, a line of JSON a question, another an answer. */
export interface Driver {
  readonly name: string;
  readonly dialect: LockDialect;
  readonly shortest: number;
  /** The script has an answer to `wait`. */
  readonly waits?: boolean;
  /** Makes what it needs, the first time; answers with what is missing for that. */
  readonly prepare?: () => string | undefined;
  /** The programs that may run it, by preference. */
  readonly programs: readonly string[];
  /** Arguments with which the program says whether the library is there: it ends with 0 then. */
  readonly probe: readonly string[];
  /** Not needed by a program that is the peer itself. */
  readonly script?: string;
  /** What it is told beside the ports of its servers. */
  readonly args?: readonly string[];
  /** How to get it. */
  readonly remedy: string;
}

export function drivenPeer(driver: Driver): Peer {
  const { name, dialect, shortest, waits = false, prepare, programs, probe, remedy } = driver;
  const program = (): string | undefined => programs.find((each) => has(each, probe));
  return {
    name,
    dialect,
    shortest,
    waits,
    get missing() {
      const lacking = prepare && lackedBy(prepare);
      if (lacking !== undefined) return lacking;
      return program() === undefined ? `${name} is not here (${remedy})` : undefined;
    },
    connect: (...urls) => connect(program()!, driver, urls),
  };
}

const preparations = new Map<NonNullable<Driver['prepare']>, string | undefined>();

/** What was missing for a preparation, which is made once. */
function lackedBy(prepare: NonNullable<Driver['prepare']>): string | undefined {
  if (!preparations.has(prepare)) preparations.set(prepare, prepare());
  return preparations.get(prepare);
}

const probed = new Map<string, boolean>();

/** Whether a program says that it has what is probed for; asked once. */
function has(program: string, probe: readonly string[]): boolean {
  const question = [program, ...probe].join(' ');
  let answer = probed.get(question);
  if (answer === undefined) {
    answer = spawnSync(program, [...probe]).status === 0;
    probed.set(question, answer);
  }
  return answer;
}

async function connect(
  program: string,
  { script, args = [] }: Driver,
  urls: readonly string[],
): Promise<PeerClient> {
  const path = script === undefined ? [] : [resolve('test/dialects/peers', script)];
  const ports = urls.map((url) => new URL(url).port).join();
  const child = spawn(program, [...path, ports, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const ask = conversation<boolean>(child);
  await ask({ ask: 'hello' });
  return {
    acquire: (name, ttl) => ask({ ask: 'acquire', name, ttl }),
    release: (name) => ask({ ask: 'release', name }),
    wait: (name) => ask({ ask: 'wait', name }),
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
