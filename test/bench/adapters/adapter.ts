/** Gives a lock back. */
export type Release = () => Promise<unknown>;

/** The URLs of what is locked on. */
export type Servers = readonly [string, ...string[]];

/** One process' locks, through one library. */
export interface BenchClient {
  /** Undefined when the library gave up waiting. */
  acquire(key: string): Promise<Release | undefined>;
  /** Takes a free lock that the library renews until it is given back; missing where it renews none. */
  hold?(key: string, ttl: number): Promise<Release>;
  close(): Promise<void>;
}

/** The majors of ioredis that are measured. */
export type Ioredis = 5 | 6;

/** One library in one configuration: a row of every table. */
export interface Adapter {
  readonly name: string;
  /** What was set; empty for a library's defaults. */
  readonly configuration: string;
  /** Which one it runs on; 6 if nothing is said. A process has one. */
  readonly ioredis?: Ioredis;
  /** Its only difference is how it asks again: it is measured where somebody waits. */
  readonly asksOtherwise?: true;
  /** False for what cannot wait: contended workloads are n/a then. */
  readonly waits: boolean;
  /** False for what does not renew by itself: its leases end at their ttl. */
  readonly renews: boolean;
  /** On one server, or by the votes of several. */
  open(servers: Servers): Promise<BenchClient>;
}

/** How long every lease lasts that nobody renews: longer than any section, so that nothing expires. */
export const TTL = 30_000;
