import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../../tools/children.js';
import { conversation, ended } from '../dialects/peers/driven-peer.js';
import { madeOnce, prepared, run } from '../dialects/peers/made-once.js';
import { program } from '../support/command.js';

const PYTHON = 'test/protocol/python';
const GO = 'test/protocol/go';
const GO_FILES = ['go.mod', 'main.go', 'client.go', 'lease.go', 'inbox.go', 'redis.go', 'resp.go'];
/** Nothing is downloaded, and no compiler of C is needed. */
const GO_ENV = {
  GOTOOLCHAIN: 'local',
  GOPROXY: 'off',
  GOFLAGS: '-buildvcs=false',
  CGO_ENABLED: '0',
};
const STEPS = ['acquire', 'release', 'leave', 'extend'];

/** A process that speaks the protocol, with one caller. */
export interface WrittenClient {
  /** What stands before its holder ids. */
  readonly process: string;
  /** The fencing token; null if it has not had the lock within `wait` ms. */
  acquire(name: string, ttl: number, wait: number): Promise<number | null>;
  /** False if the lock was not its own any more. */
  release(name: string): Promise<boolean>;
  /** Whether it believes to hold the lock. */
  held(name: string): Promise<boolean>;
  /** Stops it for a while, or goes on with it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends, without giving anything back. */
  close(): Promise<void>;
}

/** A language in which a client was written from docs/protocol.md alone. */
interface Language {
  readonly name: string;
  /** What is missing for it here. */
  readonly missing: string | undefined;
  readonly connect: (url: string) => Promise<WrittenClient>;
}

export const languages: readonly Language[] = [
  language('Python', {
    prepare() {
      if (spawnSync('python3', ['-c', 'import venv, ensurepip']).status !== 0) {
        throw new Error('Python is not here (apt-get install python3-venv)');
      }
      makePython();
    },
    words: () => [`${makePython()}/bin/python`, `${PYTHON}/client.py`],
  }),
  language('Go', {
    prepare() {
      if (spawnSync('go', ['version']).status !== 0) {
        throw new Error('Go is not here (apt-get install golang-go)');
      }
    },
    words: () => [`${makeGo()}/client`],
  }),
];

/** `prepare` throws what is missing here; `words` start the client. Nothing may be missing where a submission is judged. */
function language(
  name: string,
  { prepare, words }: { prepare: () => void; words: () => string[] },
): Language {
  const missing = prepared(`the client in ${name}`, prepare);
  if (missing !== undefined && process.env['CI']) throw new Error(missing);
  return { name, missing, connect: (url) => connect(words(), url) };
}

function makePython(): string {
  const wanted = `${PYTHON}/requirements.txt`;
  return madeOnce('protocol-python', [wanted], (made) => {
    run('python3', ['-m', 'venv', made]);
    run(`${made}/bin/python`, ['-m', 'pip', 'install', '--quiet', '-r', wanted]);
  });
}

/** Fails where it does not compile: nothing is downloaded that could be missing. */
function makeGo(): string {
  const files = GO_FILES.map((each) => `${GO}/${each}`);
  return madeOnce('protocol-go', files, (made) => {
    run('go', ['build', '-o', `${made}/client`, '.'], { cwd: GO, env: GO_ENV });
  });
}

async function connect([program, ...args]: string[], url: string): Promise<WrittenClient> {
  const child = startChild(program!, [...args, new URL(url).port, scripts()], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const asked = conversation<unknown>(child);
  const ask = async <Answer>(question: object): Promise<Answer> =>
    (await asked(question)) as Answer;
  return {
    process: await ask({ ask: 'hello' }),
    acquire: (name, ttl, wait) => ask({ ask: 'acquire', name, ttl, wait }),
    release: (name) => ask({ ask: 'release', name }),
    held: (name) => ask({ ask: 'held', name }),
    signal: (signal) => child.kill(signal),
    close: () => ended(child),
  };
}

let folder: string | undefined;

/** A folder with the scripts, printed as the page says. */
function scripts(): string {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), 'protocol-'));
    for (const step of STEPS) {
      const text = run(process.execPath, [program(), 'scripts', `lock.${step}`]);
      writeFileSync(join(folder, `${step}.lua`), text);
    }
  }
  return folder;
}
