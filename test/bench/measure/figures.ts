/** What one variant did in one round of one workload, by name. */
export type Figures = Readonly<Record<string, number>>;

/** What ratios refer to: raw ioredis, the same with autopipelining, the best of the other libraries, the floor of the machine. */
export type Reference = 'raw' | 'gathered' | 'peer' | 'floor';

/** A column: one of the figures, and its ratios. */
export interface Measure {
  readonly figure: string;
  readonly title: string;
  /** What the best is, where there is one. */
  readonly better?: 'more' | 'less';
  readonly versus?: readonly Reference[];
  /** Added up over the rounds instead of their median. */
  readonly total?: true;
}

/** Overlapping sections: anything but 0 is a broken lock. */
export const VIOLATIONS: Measure = { figure: 'violations', title: 'violations', total: true };
