import { expect } from '@jest/globals';
import { LockOptionsError } from '../../lib/engine/errors/index.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import {
  type AcquireOptions,
  callSettings,
  READER,
  type Share,
} from '../../lib/engine/options/index.js';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';
import { pairwise, type Row } from '../support/pairs.js';
import type { LockingProcess } from '../support/world.js';

export const TTL = 600;
export const MAX_HOLD = 1_500;
const MIN_HOLD = 1_000;

const FACTORS = {
  held: ['alone', 'shared', 'one of two permits'],
  fairness: ['local', 'strict'],
  keys: ['one', 'several'],
  minHold: [0, MIN_HOLD],
  maxHold: [Infinity, MAX_HOLD],
  renew: [true, false],
  fencing: [true, false],
  dialect: ['native', 'redisson', 'redlock'],
  again: ['once', 'held twice', 'extended', 'downgraded'],
  end: ['released', 'handed over', 'lost at its end', 'taken away', 'crashed'],
} as const;
export type Case = Row<typeof FACTORS>;

/** What the options refuse has sentences of its own, in options.spec.ts and where the dialects are. */
function isPossible({ held, keys, minHold, renew, maxHold, dialect, again, end }: Case): boolean {
  if (!renew && minHold > TTL) return false;
  const isNative = dialect === 'native';
  if (held === 'one of two permits' && (keys === 'several' || again === 'held twice')) return false;
  if (!isNative && (held !== 'alone' || minHold > 0 || again === 'downgraded')) return false;
  if (again === 'downgraded' && (held !== 'alone' || end === 'handed over')) return false;
  if (end === 'handed over' && (held !== 'alone' || keys === 'several' || !isNative)) return false;
  if (end === 'lost at its end' && renew && maxHold === Infinity) return false;
  return true;
}

/** Each pair of options stands in one of these. */
export const cases = pairwise(FACTORS, isPossible);

/** Says how it is held, with which options. */
export function said(each: Case): string {
  const { held, keys, again, end, ...options } = each;
  const set = Object.entries(options).map(([name, value]) => `${name} ${String(value)}`);
  return `${held}, ${keys === 'one' ? 'one key' : 'several keys'}, ${again}, ${end}; ${set.join(', ')}`;
}

/** A holder, a rival and who comes after them, with the options of a case. */
export class Play {
  readonly world = new MemoryWorld(kinds['lock']!);
  readonly key: string | string[];
  readonly isAlone: boolean;

  constructor(readonly play: Case) {
    this.world.fairness = play.fairness;
    this.key = play.keys === 'one' ? 'k' : ['j', 'k'];
    this.isAlone = play.held === 'alone' && play.again !== 'downgraded';
  }

  ask(process: LockingProcess, options: AcquireOptions, share?: Share): Promise<BaseLease> {
    const { key } = this;
    const { dialect } = this.play;
    return process.acquire({ key, dialect, ...options, ...(share && { share }) });
  }

  /** Who cannot have the lock beside the first. */
  rival(process: LockingProcess, wait: number): Promise<BaseLease> {
    const all = this.play.held === 'one of two permits' ? { permits: 2, count: 2 } : undefined;
    return this.ask(process, { wait, ttl: TTL }, all);
  }

  /** The first. */
  hold(process: LockingProcess): Promise<BaseLease> {
    const { held, minHold, maxHold, renew, fencing } = this.play;
    const share = { alone: undefined, shared: READER, 'one of two permits': PERMIT }[held];
    return this.ask(process, { ttl: TTL, minHold, maxHold, renew, fencing }, share);
  }

  /** The tokens of a lease, if it has some. */
  tokensOf(lease: BaseLease): number[] {
    if (!this.play.fencing) {
      expectNoToken(lease);
      return [];
    }
    return lease.keys.map((key) => lease.fencingTokenOf(key));
  }

  /** What is done with the lease while it is held. */
  async use(process: LockingProcess, lease: BaseLease): Promise<void> {
    const { again } = this.play;
    if (again === 'extended') await lease.extend(TTL);
    if (again === 'downgraded') await lease.downgrade();
    if (again !== 'held twice') return;
    const share = this.play.held === 'shared' ? READER : undefined;
    await lease.run(async () => {
      const inner = await this.ask(process, { wait: 0 }, share);
      expectSame(
        inner.keys.map((key) => inner.held && key),
        lease.keys,
      );
      await inner.extend(TTL);
      expectSame(await inner.release(), true);
      expectSame([lease.held, inner.returned], [true, true]);
    });
  }

  /** Ends the lease; where it was handed over it ends where it was restored. */
  async end(lease: BaseLease, holder: LockingProcess, other: LockingProcess): Promise<void> {
    switch (this.play.end) {
      case 'released':
        expectSame(await lease.release(), true);
        return;
      case 'handed over': {
        const restored = await other.locks.restore(readHandOver(await lease.handOver()));
        expectSame([lease.held, restored.held], [false, true]);
        if (this.play.fencing) expectSame(restored.fencingToken, lease.fencingToken);
        expectSame(await restored.release(), true);
        return;
      }
      case 'taken away':
        for (const key of lease.keys) {
          await other.locks.force(key, holderFormat(holder, this.play.dialect));
        }
        return;
      case 'crashed':
        return holder.crash();
      default:
    }
  }
}

const PERMIT: Share = { permits: 2, count: 1 };

function holderFormat({ settings }: LockingProcess, dialect: Case['dialect']) {
  return callSettings({ dialect }, settings.call).format;
}

function expectSame(found: unknown, expected: unknown): void {
  expect(found).toEqual(expected);
}

function expectNoToken(lease: BaseLease): void {
  expect(() => lease.fencingTokenOf('k')).toThrow(LockOptionsError);
}
