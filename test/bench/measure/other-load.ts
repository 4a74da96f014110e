import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { monotonic } from './monotonic.js';

interface Sample {
  readonly at: number;
  /** In clock ticks: of all processes, and of this one with its children. */
  readonly all: number;
  readonly own: number;
}

/** The share of the machine that everybody else used between two moments. */
export class OtherLoad {
  #before = sample();

  /** Since it was last asked: 1 is the whole machine. 0 where the system does not say. */
  since(): number {
    const { at, all, own } = this.#before;
    const now = (this.#before = sample());
    const ticks = ((now.at - at) / 1_000) * TICKS_A_SECOND * cpus().length;
    return Math.max(0, (now.all - all - (now.own - own)) / ticks) || 0;
  }
}

const TICKS_A_SECOND = ticksASecond();

function ticksASecond(): number {
  try {
    return Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  } catch {
    return NaN;
  }
}

function sample(): Sample {
  try {
    return { at: monotonic(), all: ofAll(), own: ofThisAndItsChildren() };
  } catch {
    return { at: monotonic(), all: NaN, own: NaN };
  }
}

/** Without interrupts, which nobody's processes are charged for; with what other machines stole. */
function ofAll(): number {
  const [, user, nice, system, , , , , stolen] = words('/proc/stat').map(Number);
  return user! + nice! + system! + stolen!;
}

function ofThisAndItsChildren(): number {
  const { pid } = process;
  const children = words(`/proc/${pid}/task/${pid}/children`).filter(Boolean);
  const living = children.map((child) => ticksOf(child, 2));
  return living.reduce((sum, ticks) => sum + ticks, ticksOf(String(pid), 4));
}

/** User and system time; with four, also those of children that have ended. */
function ticksOf(pid: string, count: 2 | 4): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return afterName.slice(11, 11 + count).reduce((sum, ticks) => sum + Number(ticks), 0);
}

function words(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n')[0]!.split(/\s+/);
}
