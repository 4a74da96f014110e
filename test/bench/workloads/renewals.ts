import type { RenewalWorkload } from './workload.js';

/** Leases of one process that are held on and on. */
export function renewed(leases: number): RenewalWorkload {
  return {
    kind: 'renewal',
    name: `${leases.toLocaleString('en')} leases renewed, ttl 3 s`,
    processes: 1,
    leases,
    ttl: 3_000,
    held: 5_000,
  };
}

export const renewals = [renewed(10_000)];
