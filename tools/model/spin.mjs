import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
/** Where the models are. */
export const MODEL_FOLDER = 'docs/model';
const NO_TROUBLE = { CRASHES: 0, BREAKS: 0, STALLS: 0, DEAF: 0, EVICTIONS: 0 };
/** Seconds of processor time, since the machine may be busy. */
const PATIENCE = 180;
/** In MB. */
const MEMORY = 4_000;

/** What this machine lacks, in one sentence; undefined if it lacks nothing. */
export function missingTools() {
  const missing = ['spin', 'cc'].filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length === 0) return undefined;
  return `The model needs ${missing.join(' and ')}: on Debian, apt-get install spin gcc libc6-dev.`;
}

/**
 * Looks at every state that a model can come to within its bounds. Returns which promise is `broken`, if one is, how many
 * states there are, how deep, the seconds of processor time and the MB; with `trail` the shortest way to a broken promise, as lines.
 */
export async function verify({ name, bounds = {}, at, progress = false, trail = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-model-'));
  try {
    cpSync(MODEL_FOLDER, folder, { recursive: true });
    const within = Object.entries({ ...NO_TROUBLE, ...bounds }).map(([key, n]) => `-D${key}=${n}`);
    const switches = [...within, ...(at ? [`-D${at}`] : []), ...(progress ? ['-DPROGRESS'] : [])];
    const here = { cwd: folder, maxBuffer: 1e8 };
    await nicely(['spin', '-a', ...switches, `${name}.pml`], here);
    const kind = progress ? ['-DNFAIR=3'] : ['-DSAFETY', ...(trail ? ['-DBFS'] : [])];
    const options = [at ? '-O0' : '-O1', '-w', `-DMEMLIM=${MEMORY}`, '-DVECTORSZ=2048', ...kind];
    await nicely(['cc', ...options, '-o', 'pan', 'pan.c'], here);
    const search = progress ? ['-a', '-f', ...(trail ? ['-i'] : [])] : [];
    const { stdout, stderr } = await nicely(['./pan', '-m1000000', '-w22', ...search], here);
    const found = { ...judge(stdout), seconds: Number(/^cpu ([\d.]+)/m.exec(stderr)[1]) };
    if (!trail || !found.broken) return found;
    const told = await nicely(['spin', '-t', '-T', ...switches, `${name}.pml`], here);
    return { ...found, trail: lines(told.stdout) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a command below all other work, and not for long. Its processor time is in what it writes to stderr. */
function nicely(command, options) {
  const script = `ulimit -t ${PATIENCE}; TIMEFORMAT='cpu %U'; time nice -n 10 "$@"`;
  return exec('bash', ['-c', script, 'bash', ...command], options);
}

/** What the verifier says. A search that was not complete says nothing. */
export function judge(said) {
  const [, assertion, cycle] =
    /pan:\d+: (?:assertion violated (\w+)|(acceptance cycle))/.exec(said) ?? [];
  const broken = assertion ?? (cycle && 'progress');
  const number = (pattern) => Number(pattern.exec(said)?.[1] ?? NaN);
  const errors = number(/errors: (\d+)/);
  if (
    !broken &&
    (errors !== 0 || /out of memory|max search depth too small|not completed/i.test(said))
  ) {
    throw new Error(`The search was not complete:\n${said}`);
  }
  return {
    broken,
    states: number(/(\d+) states, stored/),
    depth: number(/depth reached (\d+)/),
    megabytes: number(/([\d.]+)\s+total actual memory/),
  };
}

/** The lines that the model itself prints on its way. */
function lines(text) {
  return text.split('\n').filter((line) => /^( {2}\w|\d )(?!.*processes created)/.test(line));
}
