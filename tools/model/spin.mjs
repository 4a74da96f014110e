import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const exec = promisify(execFile);
/** Where the models are. */
export const MODEL_FOLDER = 'docs/model';
const NO_TROUBLE = { CRASHES: 0, BREAKS: 0, STALLS: 0, DEAF: 0 };
const PATIENCE = 300_000;
/** In MB. */
const MEMORY = 2_000;

/** Whether this machine has what it takes. */
export function hasSpin() {
  return ['spin', 'cc'].every((name) => spawnSync('which', [name]).status === 0);
}

/**
 * Looks at every state that a model can come to within its bounds. Returns which promise is `broken`, if one is, how many
 * states there are, how deep, the seconds of processor time and the MB; with `trail` the shortest way to a broken promise, as lines.
 */
export async function verify({ name, bounds = {}, at, progress = false }, trail = false) {
  const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-model-'));
  try {
    cpSync(MODEL_FOLDER, folder, { recursive: true });
    const within = Object.entries({ ...NO_TROUBLE, ...bounds }).map(([key, n]) => `-D${key}=${n}`);
    const switches = [...within, ...(at ? [`-D${at}`] : []), ...(progress ? ['-DPROGRESS'] : [])];
    const here = { cwd: folder, maxBuffer: 1e8 };
    await exec('spin', ['-a', ...switches, `${name}.pml`], here);
    const kind = progress ? ['-DNFAIR=3'] : ['-DSAFETY', ...(trail ? ['-DBFS'] : [])];
    const options = ['-O1', '-w', `-DMEMLIM=${MEMORY}`, '-DVECTORSZ=2048', ...kind];
    await exec('cc', [...options, '-o', 'pan', 'pan.c'], here);
    const search = progress ? ['-a', '-f', ...(trail ? ['-i'] : [])] : [];
    const { stdout } = await exec('./pan', ['-m1000000', '-w22', ...search], {
      ...here,
      timeout: PATIENCE,
    });
    const found = judge(stdout);
    if (!trail || !found.broken) return found;
    const told = await exec('spin', ['-t', '-T', `-k${name}.pml.trail`, `${name}.pml`], here);
    return { ...found, trail: lines(told.stdout) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the verifier says. A search that was not complete says nothing. */
export function judge(said) {
  const [, assertion, cycle] = /pan:\d+: (?:assertion violated (\w+)|(acceptance cycle))/.exec(said) ?? [];
  const broken = assertion ?? (cycle && 'progress');
  const number = (pattern) => Number(pattern.exec(said)?.[1] ?? NaN);
  const errors = number(/errors: (\d+)/);
  if (!broken && (errors !== 0 || /out of memory|max search depth too small|not completed/i.test(said))) {
    throw new Error(`The search was not complete:\n${said}`);
  }
  return {
    broken,
    states: number(/(\d+) states, stored/),
    depth: number(/depth reached (\d+)/),
    seconds: number(/elapsed time ([\d.e+]+)/),
    megabytes: number(/([\d.]+)\s+total actual memory/),
  };
}

/** The lines that the model itself prints on its way. */
function lines(text) {
  return text.split('\n').filter((line) => /^ *(\d|the ) ?\w/.test(line) && !/^\s*\d+ processes/.test(line) && !/^spin:/.test(line));
}
