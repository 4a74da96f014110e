/** Something that is called again and again, with nothing but a lock around it. */
export interface Subject {
  readonly name: string;
  /** The subject whose cost is part of this one's: what is more is told, too. */
  readonly over?: string;
  readonly call: (turn: number) => Promise<unknown>;
}

/** Subjects and what they are compared with; Redis is replaced by the store in memory. */
export interface Comparison {
  readonly reference: Subject;
  readonly subjects: readonly Subject[];
  close(): Promise<void>;
}

/** So many keys take turns: none is wanted by two. */
export const KEYS = 1_000;
