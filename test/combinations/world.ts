import { kinds } from '../support/kinds.js';
import { MemoryQuorumWorld } from '../support/memory-quorum-world.js';
import { MemoryWorld } from '../support/memory-world.js';
import { CALM, ROUGH, STORM } from '../support/simulation.js';
import { type Trouble, TroubledWorld } from '../support/troubled-world.js';
import type { Wrap } from '../support/world.js';
import type { Choice } from './drawn-call.js';

/** Where calls are played. */
export interface Setting {
  readonly fairness: 'local' | 'strict';
  /** Undefined where everything arrives, and at once. */
  readonly trouble?: Trouble;
  readonly isQuorum?: boolean;
  /** Whether somebody listens to events. */
  readonly listens: boolean;
}

/** Settings by their names, as a seed has them. */
export const settings = {
  'over a calm network, local': (pick) => ({ fairness: 'local', listens: pick(true, false) }),
  'over a calm network, strict': (pick) => ({ fairness: 'strict', listens: pick(true, false) }),
  'over a bad network': (pick) => ({
    fairness: pick('local', 'strict'),
    trouble: { ...pick(ROUGH, STORM), reset: pick(0, 0.01) },
    listens: pick(true, false),
  }),
  'by votes of three servers': (pick) => ({
    fairness: 'local',
    trouble: pick(CALM, ROUGH, STORM),
    isQuorum: true,
    listens: pick(true, false),
  }),
} satisfies Record<string, (pick: Choice) => Setting>;

export type SettingName = keyof typeof settings;

export function worldOf(
  { fairness, trouble, isQuorum }: Setting,
  chance: () => number,
  wrap: Wrap | undefined,
): MemoryWorld {
  const kind = kinds['lock']!;
  const Troubled = isQuorum ? MemoryQuorumWorld : TroubledWorld;
  const world = trouble ? new Troubled(kind, wrap, chance, trouble) : new MemoryWorld(kind, wrap);
  world.fairness = fairness;
  world.patience = 600_000;
  return world;
}

/** Nothing is lost from now on. */
export function calmDown(world: MemoryWorld): void {
  if (world instanceof TroubledWorld) world.trouble = CALM;
}
