interface Common {
  readonly name: string;
  readonly processes: number;
  /** How many independent servers vote on the locks; one decides alone if nothing is said. */
  readonly servers?: number;
  /** So many rounds are enough. */
  readonly rounds?: number;
  /** Beside ours and raw it has only the best peer of the workload that is named so. */
  readonly like?: string;
  /** A quick run leaves it out. */
  readonly thorough?: true;
}

/** So many callers in so many processes take turns, or do not meet at all. */
export interface TurnsWorkload extends Common {
  readonly kind: 'turns';
  /** In each process. */
  readonly callers: number;
  /** All callers on one key, or each on its own. */
  readonly contended: boolean;
  /** Each turn has a key of its own that nobody had before. */
  readonly newKeys?: true;
  /** Each round has a process of its own, and is counted from its first turn on, for so many ms. */
  readonly cold?: number;
  /** How long each holds the lock, in ms. */
  readonly section: number;
  /** How long each pauses between two turns, in ms: at random, from 0 to twice as long. */
  readonly think: number;
  /** Locks are in the memory of the process, too. */
  readonly inMemory?: true;
  /** So many of the servers stand still while the callers run; each round is measured with all of them running, too. */
  readonly hanging?: number;
  /** The least that its hand-offs can take, measured in the same rounds. */
  readonly floor?: MessageWorkload;
}

/** Waiters line up behind one holder; then it lets go, and each has one turn. The first process is the holder. */
export interface LineUpWorkload extends Common {
  readonly kind: 'line-up';
  /** In all waiting processes together. */
  readonly waiters: number;
  /** How long the holder stays, in ms. */
  readonly held: number;
  /** How long they have after that, in ms. */
  readonly bound: number;
}

/** Many leases that are renewed. */
export interface RenewalWorkload extends Common {
  readonly kind: 'renewal';
  readonly leases: number;
  readonly ttl: number;
  /** How long they are watched once all are held, in ms. */
  readonly held: number;
}

/** Many keys are locked and given back, each once. */
export interface MemoryWorkload extends Common {
  readonly kind: 'memory';
  readonly keys: number;
}

/** One process sends messages to the others: no lock, but what no hand-off between processes can be faster than. */
export interface MessageWorkload extends Common {
  readonly kind: 'message';
  /** Between two messages, in ms. */
  readonly rest: number;
}

export type Workload =
  TurnsWorkload | LineUpWorkload | RenewalWorkload | MemoryWorkload | MessageWorkload;
