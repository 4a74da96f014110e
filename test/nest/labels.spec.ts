import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type LockDialect,
  Locked,
  type LockEventMap,
  LockOptionsError,
  LockService,
} from '../../lib/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { Accounts, Routes } from './labelled-locks.js';

const bench = useBench();

let locks: LockService;

describe('a decorated method', () => {
  let accounts: Accounts;
  beforeAll(async () => {
    const app = await bench.app({ providers: [Accounts] });
    accounts = app.get(Accounts);
    locks = app.get(LockService);
  });

  it('labels its lock by its class and name', async () => {
    expect(await accounts.debit('1')).toBe('Accounts.debit');
  });

  it('labels it as its option says, or a function of its arguments', async () => {
    expect(await accounts.settle('1')).toBe('nightly');
    expect(await accounts.close('7')).toBe('acme 7');
  });

  it('cuts a name that is too long for a label', async () => {
    const name = 'Accounts.aMethodWhoseNameIsLongerThanALabelMayBeAndThatIsCutThere';
    const label = await accounts.aMethodWhoseNameIsLongerThanALabelMayBeAndThatIsCutThere('1');
    expect(label).toBe(name.slice(0, 64));
  });

  it('does not run under what is no label', async () => {
    await expect(accounts.wrong('1')).rejects.toThrow(LockOptionsError);
    expect((await locks.inspect('account:1')).state).toBe('free');
  });

  it('is named by events', async () => {
    const told: (string | undefined)[] = [];
    const listen = (event: LockEventMap['acquired'][0]): void => void told.push(event.label);
    locks.events.on('acquired', listen);
    await accounts.debit('1');
    await accounts.close('7');
    await locks.withLock('account:1', () => {});
    await locks.withLock('account:1', { label: 'by hand' }, () => {});
    locks.events.off('acquired', listen);
    expect(told).toEqual(['Accounts.debit', 'acme 7', undefined, 'by hand']);
  });
});

describe.each(PLATFORMS)('a request under a lock on %s', (platform) => {
  it('labels it by its handler, as its option says, or a function of the request', async () => {
    const { url } = await bench.server(platform, { controllers: [Routes] });
    const asked = async (path: string) => (await fetch(`${url}/${path}/42`)).json();
    expect(await asked('plain')).toEqual({ label: 'Routes.plain' });
    expect(await asked('said')).toEqual({ label: 'imports' });
    expect(await asked('asked')).toEqual({ label: '42' });
  });
});

it.each(['', 'x'.repeat(65), 'a\u0000', 'a\u202eb', '\ud800', 7, null])(
  'a label %j is refused, by a call, a semaphore and a decorator',
  async (label) => {
    const service = memoryLockService();
    const options = { label: label as string };
    const error = /"label" takes a text of 1 to 64 characters/;
    await expect(service.acquire('k', options)).rejects.toThrow(error);
    expect(() => service.semaphore('s', { permits: 1, ...options })).toThrow(error);
    expect(() => {
      class Wrong {
        @Locked('k', options)
        async run() {}
      }
      return Wrong;
    }).toThrow(error);
    await service.onApplicationShutdown();
  },
);

it('a semaphore labels its calls, and a call otherwise', async () => {
  locks = memoryLockService();
  const semaphore = locks.semaphore('exports', { permits: 2, label: 'exports' });
  const leases = [await semaphore.acquire(), await semaphore.acquire({ label: 'big one' })];
  const { holders = [] } = await locks.inspect('exports');
  const labels = holders.map(({ label }) => String(label)).sort();
  expect(labels).toEqual(['big one', 'exports']);
  for (const lease of leases) await lease.release();
  await locks.onApplicationShutdown();
});

it.each<LockDialect>([
  'redlock',
  'redisson',
  'symfony',
  { name: 'spring', registry: 'locks' },
  'python-redis-lock',
])('a lock in the format of %j is labelled, too', async (dialect) => {
  locks = memoryLockService();
  const lease = await locks.acquire('k', { dialect, label: 'größe 木' });
  const { holder } = await locks.inspect('k', { dialect });
  expect(holder).toMatchObject({ pid: process.pid, label: 'größe 木' });
  expect(await lease.release()).toBe(true);
  await locks.onApplicationShutdown();
});

it('a leader is seen by the label of its election', async () => {
  const election = memoryLockService().election('reports', { label: 'eu-west' });
  await election.campaign();
  expect(await election.leader()).toMatchObject({ label: 'eu-west' });
  await election.resign();
});
