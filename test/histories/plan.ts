import { random } from '../support/random.js';
import { COMPANIONS, type Fault, FAULTS } from './faults.js';
import type { PlaceName } from './places.js';
import type { PlantName } from './plants.js';

/** All that is drawn before a history begins. It is played again by its number. */
export interface Plan {
  readonly seed: number;
  readonly place: PlaceName;
  readonly fairness: 'local' | 'strict';
  readonly ioredis: 5 | 6;
  /** The longest lease, in ms. */
  readonly ttl: number;
  readonly callers: number;
  /** Names of faults, in their order. */
  readonly strokes: readonly string[];
  readonly plant?: PlantName;
}

const STROKES = 3;

/** The history of this number. Neighbours differ in the fault and the place; after rounds of all faults each was at each of its places. */
export function planOf(seed: number): Plan {
  const draw = random(seed * 2_654_435_761);
  const any = <T>(all: readonly T[]): T => all[Math.floor(draw() * all.length)]!;
  const [round, nth] = [Math.floor(seed / FAULTS.length), seed % FAULTS.length];
  const fault = FAULTS[nth]!;
  const place = fault.on[(round + nth) % fault.on.length]!;
  const companion = draw() < 0.3 ? any(COMPANIONS).name : fault.name;
  return {
    seed,
    place,
    fairness: any(['local', 'strict']),
    ioredis: any([5, 6]),
    // Where servers are in a grace period of that length it is a short one.
    ttl: place.endsWith('must not forget') ? 1_500 : any([1_500, 3_000, 6_000]),
    callers: any([3, 6, 12]),
    strokes: Array.from({ length: STROKES }, (_, at) => (at === 1 ? companion : fault.name)),
  };
}

export function faultNamed(name: string): Fault {
  return FAULTS.find((fault) => fault.name === name)!;
}

/** In a line. */
export function described({ seed, place, fairness, ioredis, ttl, callers, strokes }: Plan): string {
  const what = [...new Set(strokes)].join(' + ');
  return `--seed ${seed}: ${what || 'nothing'} · ${place} · ${fairness} · ioredis ${ioredis} · leases up to ${ttl} ms · 3 × ${callers} callers`;
}
