/** Specs that take half a minute or more, need a program of their own, or show what servers, networks and other services do: the full run alone has them. */
const LONG = [
  'test/package/(installed|linters|runtimes|tarball|toolchains|two-copies)',
  'test/sample/demo',
  'test/docs/(alert-rules|pasted|rights|site)',
  'test/board',
  'test/model',
  'test/protocol/client',
  'test/contracts/memory-matches',
  'test/(cli|combinations|dialects|faults)/',
];

/** In which ioredis has no part of its own: one of its majors is enough. */
const ONCE = [
  'test/faults/(bounded|contention|durability|hand-over|histories|leaders|leaks|minimum|replicas|skewed|split|stall|torn)',
  'test/contracts/(batches|conditions|dead|expiry|extension|hand-over|hints|local|matrix|memory|optimistic|order|permits|planted|quorum|simulation)',
];

/** Contracts that a quorum or memory alone keeps: no topology of theirs is long. */
const SHORT_CONTRACTS = [
  'test/contracts/(matrix|memory|planted|quorum|simulation|history|keys|bounded)',
];

const NEWEST = { nest: '12', ioredis: '6' };
const LONGEST = { ...NEWEST, env: { FULL: '1' } };

/**
 * What a command runs after its checks, each part in a process of its own, since Jest remembers by path what is an ES
 * module. `env` is what the specs find, `needs` are programs beside Redis, `projects` folders
 * with packages of their own, `server` is one of tools/servers. What `isGrouped` loads modules once for eight specs, and what people watch run `isAlone`. A part is named in what the run prints.
 * `npm test` runs the quick ones; `npm run test:full` those that complete them. Together they run every spec.
 */
export const PARTS = {
  quick: [
    { ...NEWEST, name: 'Nest 12, ioredis 6', isGrouped: true, folders: ['test'], skip: LONG },
  ],
  full: [
    {
      name: 'the module · Nest 11, ioredis 5',
      isGrouped: true,
      nest: '11',
      ioredis: '5',
      folders: ['test/nest'],
    },
    {
      name: 'contracts, faults, the page in Chromium · Nest 11, ioredis 5',
      nest: '11',
      ioredis: '5',
      folders: ['test/contracts', 'test/faults', 'test/fencing', 'test/board'],
      skip: ONCE,
    },
    ...['6', '5'].map((ioredis) => ({
      name: `Cluster, Sentinel, replicas, db 5 · ioredis ${ioredis}`,
      nest: '12',
      ioredis,
      env: { TOPOLOGIES: 'long' },
      folders: ['test/contracts'],
      skip: ioredis === '6' ? SHORT_CONTRACTS : [...SHORT_CONTRACTS, ...ONCE],
    })),
    { ...LONGEST, name: 'faults and histories', folders: ['test/faults'] },
    {
      ...LONGEST,
      name: 'simulations, combinations, many waiters, memory against Redis',
      folders: ['test/contracts', 'test/combinations'],
      only: ['test/contracts/(bounded|memory-matches|simulation)', 'test/combinations/'],
    },
    {
      ...LONGEST,
      name: 'dialects',
      needs: ['c++', 'jvm', 'python'],
      projects: ['test/dialects/peers/node'],
      folders: ['test/dialects'],
    },
    {
      ...LONGEST,
      name: 'protocol in Python and Go',
      needs: ['go', 'python'],
      folders: ['test/protocol'],
    },
    { ...LONGEST, name: 'the model', needs: ['spin'], folders: ['test/model'] },
    { ...LONGEST, name: 'command line', folders: ['test/cli'] },
    { ...LONGEST, name: 'packaging', folders: ['test/package'] },
    {
      ...LONGEST,
      name: 'documentation',
      needs: ['promtool'],
      folders: ['test/docs'],
      only: ['test/docs/(alert-rules|pasted|rights|site)'],
    },
    { ...LONGEST, name: 'the page in Chromium', folders: ['test/board'] },
    {
      ...LONGEST,
      name: 'demo',
      isAlone: true,
      folders: ['test/sample'],
      only: ['test/sample/demo'],
    },
    ...['Redis 6.2.5', 'Redis 8.2.3'].map((server) => ({
      ...NEWEST,
      name: `scripts, memory against ${server}`,
      server,
      folders: ['test/testing'],
      only: ['test/testing/scripts\\.'],
    })),
    {
      ...NEWEST,
      name: 'Valkey 9.1.2',
      server: 'Valkey 9.1.2',
      env: { TOPOLOGIES: 'a cluster' },
      folders: ['test/contracts', 'test/faults'],
      only: [
        'test/contracts/(events|hand-off|many-keys|permits|shared-mode)\\.',
        'test/faults/(cluster|one-node-cluster|server-errors|version)\\.',
      ],
    },
  ],
};

/** Runs of Jest: parts under the same conditions are one, in which a long spec of one goes on beside those of others. */
export function runsOf(parts) {
  const runs = new Map();
  for (const part of parts) {
    const { nest, ioredis, env, server, skip, isAlone, name, folders } = part;
    const conditions = JSON.stringify([nest, ioredis, env, server, skip, isAlone && name]);
    const only = part.only ?? folders.map((folder) => `${folder}/`);
    const before = runs.get(conditions);
    runs.set(conditions, {
      ...part,
      name: before ? `${before.name}, ${name}` : name,
      folders: [...(before?.folders ?? []), ...folders],
      only: [...(before?.only ?? []), ...only],
    });
  }
  return [...runs.values()];
}
