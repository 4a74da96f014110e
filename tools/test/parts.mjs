/** In which ioredis has no part of its own: `npm test` runs them with one of its majors. */
const ONCE = [
  'test/faults/(bounded|contention|durability|hand-over|histories|leaders|leaks|minimum|replicas|skewed|split|stall|torn)',
  'test/contracts/(conditions|dead|expiry|extension|hand-over|hints|local|matrix|memory|optimistic|order|permits|planted|quorum|runs|simulation)',
];

/** Contracts that a quorum or memory alone keeps: no topology of theirs is long. */
const SHORT_CONTRACTS = [
  'test/contracts/(matrix|memory|planted|quorum|simulation|history|keys|bounded|half)',
];

/**
 * What a command runs after its checks, each part in a process of its own, since Jest remembers by path what is an ES
 * module. `env` is what the specs find; a part is named in what the run prints.
 */
export const PARTS = {
  quick: [
    { name: 'Nest 12, ioredis 6', nest: '12', ioredis: '6', folders: ['test'] },
    {
      name: 'Nest 12, ioredis 5',
      nest: '12',
      ioredis: '5',
      folders: ['test/contracts', 'test/faults', 'test/fencing', 'test/nest'],
      skip: ONCE,
    },
    { name: 'Nest 11, ioredis 5', nest: '11', ioredis: '5', folders: ['test/nest'] },
  ],
  full: [
    ...['6', '5'].map((ioredis) => ({
      name: `Cluster, Sentinel, replicas, db 5 · ioredis ${ioredis}`,
      nest: '12',
      ioredis,
      env: { TOPOLOGIES: 'long' },
      folders: ['test/contracts'],
      skip: SHORT_CONTRACTS,
    })),
    {
      name: 'faults and histories · ioredis 6',
      nest: '12',
      ioredis: '6',
      env: { FULL: '1' },
      folders: ['test/faults'],
    },
    {
      name: 'faults of connections · ioredis 5',
      nest: '12',
      ioredis: '5',
      env: { FULL: '1' },
      folders: ['test/faults'],
      skip: ONCE,
    },
    {
      name: 'simulations',
      nest: '12',
      ioredis: '6',
      env: { FULL: '1' },
      folders: ['test/contracts'],
      only: ['test/contracts/simulation'],
    },
    {
      name: 'dialects',
      nest: '12',
      ioredis: '6',
      env: { FULL: '1' },
      folders: ['test/dialects'],
    },
    {
      name: 'packaging',
      nest: '12',
      ioredis: '6',
      env: { FULL: '1' },
      folders: ['test/package'],
    },
    {
      name: 'demo',
      nest: '12',
      ioredis: '6',
      folders: ['test/sample'],
      only: ['test/sample/demo'],
    },
  ],
};
