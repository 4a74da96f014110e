/** How often a variant comes round, and for how long. */
export interface Effort {
  readonly rounds: number;
  /** Of workloads whose rounds take seconds. */
  readonly longRounds: number;
  /** How long each runs before the first of its short rounds, in ms: until the compiler has seen all of it. */
  readonly practice?: number;
  /** Not counted, in ms: caches fill, the compiler warms up. */
  readonly warmUp: number;
  /** Counted, in ms. */
  readonly window: number;
  /** How long leases are watched while they are renewed, in ms; as long as the workload says without it. */
  readonly watched?: number;
  /** How often the package is imported, and its peers alone. */
  readonly pairs: number;
  /** How many keys are locked once; as many as the workload says without it. */
  readonly keys?: number;
}

export const THOROUGH: Effort = {
  rounds: 5,
  longRounds: 5,
  practice: 300,
  warmUp: 150,
  window: 600,
  pairs: 10,
};
export const QUICK: Effort = {
  rounds: 3,
  longRounds: 1,
  warmUp: 60,
  window: 120,
  pairs: 2,
  watched: 2_500,
  keys: 20_000,
};
/** Of each size of a sweep. */
export const SCALE: Effort = { rounds: 3, longRounds: 2, warmUp: 150, window: 500, pairs: 0 };

/** How much time a thorough run may lose to measure again what others have disturbed, in ms. */
export const PATIENCE = 1_200_000;
