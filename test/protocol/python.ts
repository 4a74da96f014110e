import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { conversation, ended } from '../dialects/peers/driven-peer.js';

const REQUIREMENTS = 'test/protocol/requirements.txt';
const FOLDER = resolve('.cache/protocol');
const PYTHON = `${FOLDER}/venv/bin/python`;
const STEPS = ['acquire', 'release', 'leave', 'extend'];

/** A process that speaks the protocol in Python, with one caller. */
export interface PythonClient {
  /** What stands before its holder ids. */
  readonly process: string;
  /** The fencing token; null if it has not had the lock within `wait` ms. */
  acquire(name: string, ttl: number, wait: number): Promise<number | null>;
  /** False if the lock was not its own any more. */
  release(name: string): Promise<boolean>;
  /** Whether it believes to hold the lock. */
  held(name: string): Promise<boolean>;
  /** Ends, without giving anything back. */
  close(): Promise<void>;
}

/** Makes what the client needs: redis-py of the pinned version, and the scripts as the page says. Answers with what is missing. */
export function preparePython(): string | undefined {
  if (spawnSync('python3', ['-c', 'import venv, ensurepip']).status !== 0) {
    return 'Python is not here (apt-get install python3-venv)';
  }
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  const made = `${FOLDER}/made`;
  if (!existsSync(made) || readFileSync(made, 'utf8') !== wanted) {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    run('python3', '-m', 'venv', `${FOLDER}/venv`);
    run(PYTHON, '-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS);
    writeFileSync(made, wanted);
  }
  for (const step of STEPS) {
    const text = run(process.execPath, 'tools/lua.mjs', `lib/engine/locks/lock/${step}.lua`);
    writeFileSync(`${FOLDER}/${step}.lua`, text);
  }
  return undefined;
}

export async function pythonClient(url: string): Promise<PythonClient> {
  const child = spawn(PYTHON, ['test/protocol/client.py', new URL(url).port, FOLDER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ask = conversation<unknown>(child);
  return {
    process: (await ask({ ask: 'hello' })) as string,
    acquire: (name, ttl, wait) =>
      ask({ ask: 'acquire', name, ttl, wait }) as Promise<number | null>,
    release: (name) => ask({ ask: 'release', name }) as Promise<boolean>,
    held: (name) => ask({ ask: 'held', name }) as Promise<boolean>,
    close: () => ended(child),
  };
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}
