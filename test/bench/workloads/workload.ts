/** What is done: so many callers in so many processes take turns, or do not meet at all. */
export interface Workload {
  readonly name: string;
  readonly processes: number;
  /** In each process. */
  readonly callers: number;
  /** All callers on one key, or each on its own. */
  readonly contended: boolean;
  /** How long each holds the lock, in ms. */
  readonly section: number;
  /** How long each pauses between two turns, in ms: at random, from 0 to twice as long. */
  readonly think: number;
}
