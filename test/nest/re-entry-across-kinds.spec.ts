import { beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Param } from '@nestjs/common';
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  CurrentLease,
  ForeignLockError,
  type Lease,
  LeaseLostError,
  Locked,
  LockNotAcquiredError,
  LockService,
  LockUpgradeError,
} from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';

const bench = useBench();
let locks: LockService;
let rival: LockService;
beforeAll(async () => {
  [locks, rival] = [await bench.rival(), await bench.rival()];
});

const READ = { mode: 'shared', wait: 0 } as const;
const ONCE = { wait: 0 } as const;

/** Whether another replica could have the lock now, in either mode. */
async function seen(key: string): Promise<string | undefined> {
  const { state, mode } = await rival.inspect(key);
  return mode ?? state;
}

describe('inside an exclusive lease', () => {
  it('one may read, and write in that again, under one token', async () => {
    await locks.withLock('a', async ({ fencingToken }) => {
      await locks.withLock('a', READ, async (reader) => {
        expect(reader.fencingToken).toBe(fencingToken);
        await locks.withLock('a', ONCE, async (writer) => {
          expect(writer.fencingToken).toBe(fencingToken);
        });
        await reader.release();
      });
      expect(await seen('a')).toBe('exclusive');
    });
    expect(await seen('a')).toBe('free');
  });

  it('siblings of both modes take turns', async () => {
    let inside = 0;
    await locks.withLock('a', async () => {
      const visit = async (): Promise<void> => {
        inside += 1;
        expect(inside).toBe(1);
        await new Promise(setImmediate);
        inside -= 1;
      };
      await Promise.all([
        locks.withLock('a', visit),
        locks.withLock('a', { mode: 'shared' }, visit),
        locks.withLock(['a', 'b'], visit),
        locks.withLock('a', visit),
      ]);
    });
    expect(await seen('a')).toBe('free');
  });
});

describe('inside a shared lease', () => {
  it('one may read again, also while a writer waits', async () => {
    const writing = await locks.withLock('a', READ, async ({ fencingToken }) => {
      const waiting = rival.withLock('a', () => 'written');
      while ((await rival.inspect('a')).waiting === 0) await new Promise(setImmediate);
      const inner = await locks.withLock('a', READ, (lease) => lease.fencingToken);
      expect(inner).toBe(fencingToken);
      return { waiting };
    });
    expect(await writing.waiting).toBe('written');
  });

  it('a call that would write is refused at once, also among several keys, and holds nothing', async () => {
    await locks.withLock('b', READ, async () => {
      await expect(locks.acquire('b', { wait: Infinity })).rejects.toThrow(LockUpgradeError);
      await expect(locks.acquire(['a', 'b', 'c'])).rejects.toThrow(LockUpgradeError);
      expect(await Promise.all(['a', 'b', 'c'].map(seen))).toEqual(['free', 'shared', 'free']);
      const leases = await locks.acquire(['a', 'b'], { mode: 'shared' });
      expect(await leases.release()).toBe(true);
    });
    expect(await seen('b')).toBe('free');
  });

  it('a call of another context is refused by others, not by the upgrade', async () => {
    const outside = new Gate();
    const stranger = outside.opened.then(() => locks.acquire('a', ONCE));
    await locks.withLock('a', READ, async () => {
      outside.open();
      await expect(stranger).rejects.toThrow(LockNotAcquiredError);
    });
  });
});

describe('several keys', () => {
  it('may hold one that is held already, and the other way round, with its token', async () => {
    await locks.withLock('a', async (a) => {
      await locks.withLock(['b', 'a'], ONCE, async (both) => {
        expect(both.fencingTokenOf('a')).toBe(a.fencingToken);
        await locks.withLock('b', ONCE, async (b) => {
          expect(b.fencingToken).toBe(both.fencingTokenOf('b'));
        });
        const again = await locks.acquire(['a', 'b'], ONCE);
        await again.release();
        expect(locks.current()).toBe(both);
      });
      expect([await seen('a'), await seen('b')]).toEqual(['exclusive', 'free']);
    });
    expect(await seen('a')).toBe('free');
  });

  it('are entered again in any order, and siblings take turns', async () => {
    let [sum, count] = [0, 0];
    await locks.withLock(['a', 'b', 'c'], () =>
      Promise.all(
        [['c', 'a'], ['b'], ['b', 'c'], ['a', 'b', 'c'], ['a', 'b']].map((keys) =>
          locks.withLock(['b', ...keys.filter((key) => key !== 'b')], async () => {
            const read = sum;
            await new Promise(setImmediate);
            sum = read + 1;
            count += 1;
          }),
        ),
      ),
    );
    expect([sum, count]).toEqual([5, 5]);
    expect(await Promise.all(['a', 'b', 'c'].map(seen))).toEqual(['free', 'free', 'free']);
  });
});

describe('permits', () => {
  @Injectable()
  class Reports {
    constructor(readonly locks: LockService) {}

    @Locked('reports', { permits: 2, wait: 0 })
    async depth(levels: number, @CurrentLease() lease?: Lease): Promise<number[]> {
      const deeper = levels > 1 ? await this.depth(levels - 1) : [];
      return [lease!.fencingToken, ...deeper];
    }
  }

  it('are taken anew at each level, with a token of its own, until there are none', async () => {
    const reports = (await bench.app({ providers: [Reports] })).get(Reports);
    const [outer, inner] = await reports.depth(2);
    expect(inner).toBeGreaterThan(outer!);
    await expect(reports.depth(3)).rejects.toThrow(LockNotAcquiredError);
    expect(await seen('reports')).toBe('free');
  });

  it('are none inside a lock of their name, nor is a lock inside them', async () => {
    const reports = (await bench.app({ providers: [Reports] })).get(Reports);
    const here = reports.locks;
    await here.withLock('reports', async () => {
      await expect(reports.depth(1)).rejects.toThrow(ForeignLockError);
    });
    await here.semaphore('reports', { permits: 2 }).withPermit(async () => {
      await expect(here.acquire('reports', ONCE)).rejects.toThrow(ForeignLockError);
      await expect(here.acquire('reports', READ)).rejects.toThrow(ForeignLockError);
    });
  });

  it('do not hide a lock that is held around them, nor one inside them', async () => {
    const semaphore = locks.semaphore('slots', { permits: 1 });
    await locks.withLock('a', ({ fencingToken }) =>
      semaphore.withPermit(async () => {
        expect(await locks.withLock('a', ONCE, (lease) => lease.fencingToken)).toBe(fencingToken);
        expect(await semaphore.tryAcquire()).toBeNull();
      }),
    );
  });
});

describe('work that a section leaves behind', () => {
  it('nests while the section is open, and asks like anybody afterwards, in each mode', async () => {
    for (const mode of ['exclusive', 'shared'] as const) {
      const [fired, over] = [new Gate(), new Gate()];
      let late: Promise<unknown> | undefined;
      await locks.withLock('a', { mode }, async (lease) => {
        setTimeout(() => {
          const nested = locks.withLock('a', READ, (inner) => inner.fencingToken);
          late = over.opened.then(() => {
            expect(locks.current('a')).toBeUndefined();
            return locks.acquire('a', ONCE);
          });
          void nested.then((token) => token === lease.fencingToken && fired.open());
        }, 0);
        await fired.opened;
      });
      const other = await rival.acquire('a');
      over.open();
      await expect(late).rejects.toThrow(LockNotAcquiredError);
      await other.release();
    }
  });

  it('is outside as soon as a lease was given back by hand, although the section goes on', async () => {
    await locks.withLock('a', async (lease) => {
      expect(await lease.release()).toBe(true);
      const other = await rival.acquire('a', ONCE);
      await expect(locks.acquire('a', ONCE)).rejects.toThrow(LockNotAcquiredError);
      await other.release();
      const anew = await locks.acquire('a', ONCE);
      expect(anew.fencingToken).toBeGreaterThan(other.fencingToken);
      await anew.release();
    });
  });

  it('is no success if the lease that it gave back had been lost before', async () => {
    const section = locks.withLock('a', async (lease) => {
      await rival.forceRelease('a');
      expect(await lease.release()).toBe(false);
    });
    await expect(section).rejects.toThrow(LeaseLostError);
  });

  it('knows nothing of a lease that was only acquired: it opens no section', async () => {
    const lease = await locks.acquire('a');
    expect(locks.current('a')).toBeUndefined();
    await expect(locks.acquire('a', READ)).rejects.toThrow(LockNotAcquiredError);
    const leave = new Gate();
    const running = lease.run(async () => {
      await (await locks.acquire('a', READ)).release();
      await leave.opened;
    });
    expect(locks.current('a')).toBeUndefined(); // the section is around the work, not around who started it
    leave.open();
    await running;
    await lease.release();
  });
});

describe.each(PLATFORMS)('two requests at a time on %s', (platform) => {
  const [entered, leave] = [new Gate(), new Gate()];

  @Controller('pages')
  class Pages {
    constructor(private readonly here: LockService) {}

    @Get(':id/slow')
    @Locked('page:<id>', { mode: 'shared' })
    async slow(@Param('id') id: string): Promise<string> {
      entered.open();
      await leave.opened;
      return this.here.withLock(`page:${id}`, READ, () => 'read slowly');
    }

    @Get(':id/write')
    @Locked('page:<id>', { wait: 0 })
    async write(@Param('id') _id: string): Promise<string> {
      return 'written';
    }

    @Get(':id/around')
    async around(@Param('id') id: string): Promise<string> {
      return this.here.current(`page:${id}`)?.key ?? 'nothing';
    }
  }

  it('do not see each other’s leases, also on one connection', async () => {
    const { url } = await bench.server(platform, { controllers: [Pages] });
    const agents = [
      new Agent({ keepAlive: true, maxSockets: 1 }),
      new Agent({ keepAlive: true, maxSockets: 1 }),
    ] as const;
    const ask = (path: string, by: 0 | 1): Promise<{ status: number; body: string }> =>
      new Promise((resolve, reject) => {
        get(`${url}/pages/7/${path}`, { agent: agents[by] }, (response) => {
          text(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
        }).on('error', reject);
      });

    const slow = ask('slow', 0);
    await entered.opened;
    expect(await ask('write', 1)).toMatchObject({ status: 409 }); // not an upgrade: that would be 500
    expect(await ask('around', 1)).toEqual({ status: 200, body: 'nothing' });
    leave.open();
    expect(await slow).toEqual({ status: 200, body: 'read slowly' });
    expect(await ask('around', 0)).toEqual({ status: 200, body: 'nothing' });
    expect(await ask('write', 0)).toEqual({ status: 200, body: 'written' });
    for (const agent of agents) agent.destroy();
  });
});
