import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Controller,
  type FactoryProvider,
  Get,
  type INestApplication,
  Injectable,
  SetMetadata,
  type Type,
  type ValueProvider,
} from '@nestjs/common';
import { Cron, CronExpression, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { Observable, of } from 'rxjs';
import { LeaderOnly, LeaseLostError, LockOptionsError, type LockService } from '../../lib/index.js';
import { LockTestingModule, MemoryServer } from '../../lib/memory/testing/index.js';
import { Gate } from '../support/gate.js';
import { untilWaiting } from '../support/inspected.js';
import { NestBench, useBench } from '../support/nest-app.js';
import { SOON } from '../support/bounds.js';
import { until } from '../support/until.js';
import { Feed } from './led-feed.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

let apps: INestApplication[] = [];
afterEach(async () => {
  for (const app of apps) await app.close();
  apps = [];
});

describe('@LeaderOnly', () => {
  it('runs on the elected replica, and returns at once on every other', async () => {
    const all = await feeds(3);
    for (let round = 0; round < 5; round += 1) {
      expect(await Promise.all(all.map((feed) => feed.pull(round)))).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
    expect(all.map(({ runs }) => runs)).toEqual([5, 0, 0]);
  });

  it('gives the method the leader’s lease, the same each time, and runs inside it', async () => {
    const [leader] = await feeds(1);
    await leader!.pull(1);
    await leader!.pull(2);
    const [lease] = leader!.leases;
    expect(lease!.key).toBe('leader:feed');
    expect(lease!.held).toBe(true);
    expect(leader!.leases.slice(0, 3).map((other) => other!.fencingToken)).toEqual(
      Array(3).fill(lease!.fencingToken),
    );
    expect(leader!.leases[1]).toBe(lease);
  });

  it('lets the method’s own error through', async () => {
    const [leader] = await feeds(1);
    leader!.work = () => Promise.reject(new RangeError('mine'));
    await expect(leader!.pull(1)).rejects.toThrow(new RangeError('mine'));
  });

  it('fits below @Locked', async () => {
    const [leader, other] = await feeds(2);
    await leader!.below();
    await other!.below();
    expect([leader!.runs, other!.runs]).toEqual([1, 0]);
  });

  it('takes one ttl that is written in several ways, or left out, for one', async () => {
    @Injectable()
    class Jobs {
      @LeaderOnly('b', { ttl: '30s' })
      async one(): Promise<void> {}

      @LeaderOnly('b', { ttl: 30_000 })
      async two(): Promise<void> {}

      @LeaderOnly('b', { ttl: undefined }) // the module's
      async three(): Promise<void> {}
    }
    const jobs = (await replica({ providers: [Jobs] })).get(Jobs);
    await jobs.one();
    await jobs.two();
    await jobs.three();
  });

  it('leaves the lead to another replica at once when its own shuts down', async () => {
    const all = await feeds(3);
    for (let at = 0; at < 2; at += 1) {
      const since = performance.now();
      const { runs } = all[at]!;
      await apps[at]!.close();
      await all[at]!.pull(1);
      await until('the next leads', async () => {
        await all[at + 1]!.pull(1);
        return all[at + 1]!.runs > 0;
      });
      expect(performance.now() - since).toBeLessThan(SOON);
      expect(all[at]!.runs).toBe(runs);
    }
  });

  it('begins nothing while its replica shuts down, and resigns when the work under way has ended', async () => {
    const inside = new Gate();
    const leave = new Gate();
    const closing = new Gate();
    const closed = new Gate();

    @Injectable()
    class Slow {
      @LeaderOnly('slow')
      async work(): Promise<void> {
        inside.open();
        await leave.opened;
      }

      /** Keeps the shutdown waiting before locks are given back. */
      async onApplicationShutdown(): Promise<void> {
        closing.open();
        await closed.opened;
      }
    }
    const app = await replica({ providers: [Slow] });
    const slow = app.get(Slow);
    let work: Promise<void> | undefined;
    await until('the leader works', () => {
      work = slow.work();
      return Promise.race([inside.opened.then(() => true), work.then(() => false)]);
    });
    const shutdown = app.close();
    await closing.opened;
    const next = rival.election('slow').campaign();
    await untilWaiting(rival, 'leader:slow');
    await slow.work(); // is skipped: it would wait for the gate
    leave.open();
    await work;
    const lease = await next;
    closed.open();
    await shutdown;
    await lease.release();
  });

  it('stands again after it was deposed', async () => {
    const [leader] = await feeds(1);
    await leader!.pull(1);
    const { fencingToken } = leader!.leases[0]!;
    await rival.forceRelease('leader:feed');
    await until('it leads again', async () => {
      await leader!.pull(1).catch(() => {}); // it may be deposed while it pulls
      return leader!.leases.at(-1)!.fencingToken > fencingToken;
    });
  });

  it.each([
    ['its method', true],
    ['somebody later', false],
  ])('stands again after %s gave the lease back', async (_, inside) => {
    const [leader] = await feeds(1);
    const giveBack = async (): Promise<void> => void (await leader!.leases[0]!.release());
    if (inside) leader!.work = giveBack;
    const pulled = await leader!.pull(1).catch((error: unknown) => error);
    expect(pulled instanceof LeaseLostError).toBe(inside);
    await giveBack();
    leader!.work = async () => {};
    const { fencingToken } = leader!.leases[0]!;
    await until('it leads again', async () => {
      await leader!.pull(1);
      return leader!.leases.at(-1)!.fencingToken > fencingToken;
    });
    expect(leader!.leases.at(-1)!.held).toBe(true);
  });

  it('stands again after its method broke off the wait for a condition', async () => {
    const [leader] = await feeds(1);
    const enough = new RangeError('enough');
    leader!.work = async () => {
      const breakOff = new AbortController();
      const condition = leader!.locks.condition(leader!.locks.current()!, 'fed');
      const awaited = condition.await({ signal: breakOff.signal });
      await until('it awaits', async () => (await rival.inspect('leader:feed')).awaiting === 1);
      breakOff.abort(enough);
      await awaited;
    };
    await expect(leader!.pull(1)).rejects.toBe(enough);
    leader!.work = async () => {};
    const { fencingToken } = leader!.leases[0]!;
    await until('it leads again', async () => {
      await leader!.pull(1);
      return leader!.leases.at(-1)!.fencingToken > fencingToken;
    });
  });

  it('tells the method by its signal that it is deposed, and the caller that it was lost', async () => {
    const [leader, other] = await feeds(2);
    const lost = (): Promise<void> =>
      new Promise((resolve) => {
        leader!.locks.current()!.signal.addEventListener('abort', () => resolve());
      });
    const run = async (call: () => Promise<void>): Promise<void> => {
      const inside = new Gate();
      leader!.work = () => {
        inside.open();
        return lost();
      };
      const running = call();
      running.catch(() => {});
      await inside.opened;
      await rival.forceRelease('leader:feed');
      return running;
    };
    await expect(run(() => leader!.pull(1))).rejects.toThrow(LeaseLostError);
    await until('the other leads', async () => {
      await other!.pull(1);
      return other!.runs > 0;
    });
    await apps[1]!.close();
    await untilWaiting(leader!.locks, 'leader:feed', 0);
    await until('the first leads again', async () => {
      leader!.work = async () => {};
      leader!.runs = 0;
      await leader!.pull(1);
      return leader!.runs > 0;
    });
    await run(() => leader!.ignorant());
  });

  it('runs a cron job on one replica', async () => {
    let runs: INestApplication[] = [];

    @Injectable()
    class Jobs {
      app!: INestApplication;

      @LeaderOnly('jobs')
      @Cron(CronExpression.EVERY_SECOND)
      async tick(): Promise<void> {
        runs.push(this.app);
      }
    }
    const parts = { imports: [ScheduleModule.forRoot()], providers: [Jobs] };
    for (let at = 0; at < 3; at += 1) {
      const app = await replica(parts);
      app.get(Jobs).app = app;
    }
    await until('it has run', () => runs.length >= 3);
    expect(new Set(runs).size).toBe(1);
  });

  it.each<[string, (type: Type<object>) => FactoryProvider | ValueProvider]>([
    ['useFactory', (type) => ({ provide: type, useFactory: () => new type() })],
    ['an async useFactory', (type) => ({ provide: 'jobs', useFactory: async () => new type() })],
    ['useValue', (type) => ({ provide: 'jobs', useValue: new type() })],
    ['a Proxy', (type) => ({ provide: type, useFactory: () => new Proxy(new type(), {}) })],
  ])('campaigns before the first call where its provider is %s', async (_, provider) => {
    class Jobs {
      @LeaderOnly('made')
      async work(): Promise<void> {}
    }
    const app = await replica({ providers: [provider(Jobs)] });
    await until('it leads', async () => (await rival.inspect('leader:made')).state === 'held');
    await app.close();
    expect((await rival.inspect('leader:made')).state).toBe('free');
  });

  it('works in the testing module', async () => {
    const server = new MemoryServer();
    const modules = await Promise.all(
      [1, 2].map(() =>
        Test.createTestingModule({
          imports: [LockTestingModule.forRoot({ server })],
          providers: [Feed],
        }).compile(),
      ),
    );
    for (const module of modules) await module.init();
    const all = modules.map((module) => module.get(Feed));
    await until('one of them leads', async () => {
      await Promise.all(all.map((feed) => feed.pull(1)));
      return all.some(({ runs }) => runs > 3);
    });
    expect(all.filter(({ runs }) => runs > 0)).toHaveLength(1);
    for (const module of modules) await module.close();
  });
});

/** What is said where callers would take a call that was skipped for done. */
const SKIPS =
  ' cannot work: replicas that do not lead would skip the call, and its caller would take it for done.';

describe('@LeaderOnly is refused at start-up', () => {
  it.each([
    [
      'on a route, above it',
      SKIPS,
      () => {
        @Controller()
        class Routes {
          @LeaderOnly('a')
          @Get()
          async get(): Promise<void> {}
        }
        return { controllers: [Routes] };
      },
    ],
    [
      'on a route, below it',
      SKIPS,
      () => {
        @Controller()
        class Routes {
          @Get()
          @LeaderOnly('a')
          async get(): Promise<void> {}
        }
        return { controllers: [Routes] };
      },
    ],
    [
      'on a message handler',
      SKIPS,
      () => {
        @Controller()
        class Messages {
          @LeaderOnly('a')
          @SetMetadata('microservices:pattern', ['created'])
          async created(): Promise<void> {}
        }
        return { controllers: [Messages] };
      },
    ],
    [
      'on the process method of a queue processor',
      SKIPS,
      () => {
        @SetMetadata('bullmq:processor_metadata', { name: 'mails' })
        @Injectable()
        class Mails {
          @LeaderOnly('a')
          async process(): Promise<void> {}
        }
        return { providers: [Mails] };
      },
    ],
    [
      'on the process method of a queue processor that useFactory makes',
      SKIPS,
      () => {
        @SetMetadata('bullmq:processor_metadata', { name: 'mails' })
        class Mails {
          @LeaderOnly('a')
          async process(): Promise<void> {}
        }
        return { providers: [{ provide: Mails, useFactory: () => new Mails() }] };
      },
    ],
    ...['graphql:resolve_property', 'graphql:resolve_reference'].map(
      (resolves): [string, string, () => { providers: Type<object>[] }] => [
        `on a resolver of ${resolves}`,
        SKIPS,
        () => {
          @Injectable()
          class Accounts {
            @LeaderOnly('a')
            @SetMetadata(resolves, true)
            async balance(): Promise<void> {}
          }
          return { providers: [Accounts] };
        },
      ],
    ),
    [
      'with a module that is not imported',
      '"billing"',
      () => {
        @Injectable()
        class Jobs {
          @LeaderOnly('a', { module: 'billing' })
          async work(): Promise<void> {}
        }
        return { providers: [Jobs] };
      },
    ],
    [
      'with two ttls for one election',
      'it is one election',
      () => {
        @Injectable()
        class Jobs {
          @LeaderOnly('a', { ttl: '5s' })
          async one(): Promise<void> {}

          @LeaderOnly('a', { ttl: '6s' })
          async two(): Promise<void> {}
        }
        return { providers: [Jobs] };
      },
    ],
  ])('%s', async (_, message, parts) => {
    const starting = bench.app(parts());
    await expect(starting).rejects.toThrow(LockOptionsError);
    await expect(starting).rejects.toThrow('@LeaderOnly');
    await expect(starting).rejects.toThrow(message);
    expect((await rival.inspect('leader:a')).state).toBe('free');
  });

  it.each<[string, () => unknown]>([
    ['an empty name', () => LeaderOnly('')],
    ['a wrong ttl', () => LeaderOnly('a', { ttl: 1 })],
    ['an option of locks', () => LeaderOnly('a', { wait: 1 } as object)],
    ['a wrong onLost', () => LeaderOnly('a', { onLost: 'skip' as 'ignore' })],
  ])('where it stands, with %s', (_, decorator) => {
    class Jobs {
      async work(): Promise<void> {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'work')!;
    const decorate = decorator() as (...args: unknown[]) => void;
    expect(() => decorate(Jobs.prototype, 'work', descriptor)).toThrow(
      expect.objectContaining({ name: expect.stringMatching('Lock(Key|Options)Error') }),
    );
  });

  it('where it stands, on what streams or is no method', () => {
    expect(() => {
      class Jobs {
        @(LeaderOnly('a') as unknown as MethodDecorator)
        work(): Observable<number> {
          return of(1);
        }
      }
      return Jobs;
    }).toThrow('streams');
    expect(() => {
      class Jobs {
        @(LeaderOnly('a') as unknown as MethodDecorator)
        static async work(): Promise<void> {}
      }
      return Jobs;
    }).toThrow('static');
  });
});

/** As many replicas as one likes, the first of which leads and the others are in the queue, in order. */
async function feeds(count: number): Promise<Feed[]> {
  const all: Feed[] = [];
  for (let at = 0; at < count; at += 1) {
    all.push((await replica({ providers: [Feed] })).get(Feed));
    await until('it leads, or is in the queue', async () => {
      const { state, waiting } = await rival.inspect('leader:feed');
      return state === 'held' && waiting === at;
    });
  }
  await until('the first leads', async () => {
    await all[0]!.pull(1);
    return all[0]!.runs > 0;
  });
  all[0]!.runs = 0;
  all[0]!.leases = [];
  return all;
}

async function replica(...args: Parameters<NestBench['app']>): Promise<INestApplication> {
  const app = await bench.app(...args);
  apps.push(app);
  return app;
}
