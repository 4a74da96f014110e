import type { Adapter, BenchClient } from '../adapters/index.js';
import type { Figures, Measure } from '../measure/figures.js';
import type { ServerLoad } from '../measure/server-load.js';
import type { Window } from '../measure/window.js';
import type { Effort } from '../effort.js';
import type { Workload } from '../workloads/workload.js';

/** One process' part in a round. */
export interface Seat<W extends Workload = Workload> {
  readonly workload: W;
  /** Which of the processes this is, from 0. */
  readonly index: number;
  readonly window: Window;
  readonly url: string;
}

/** What every part tells. */
export interface Part {
  /** Callers who had not come to an end when their time was over: the process is of no more use. */
  readonly unfinished: number;
}

/** One kind of workload: who can do it, what each process does, and what is read from it. */
export interface Kind<W extends Workload, P extends Part> {
  /** Rounds take seconds, and hardly differ. */
  readonly long: boolean;
  /** How long callers run before they are counted, and how long they are counted, in ms. */
  timing(workload: W, effort: Effort): { readonly warmUp: number; readonly window: number };
  /** Why a variant cannot do it. */
  refuses(workload: W, adapter: Adapter): string | undefined;
  play(client: BenchClient, seat: Seat<W>): Promise<P>;
  /** @param server What the servers did from the moment on that counts. */
  figures(workload: W, parts: readonly P[], window: Window, server: ServerLoad): Figures;
  /** The columns of its table; the first that has a best decides which peer is the best. */
  measures(workload: W): readonly Measure[];
}

export const WAITS_NOT = 'it does not wait';
