import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DynamicModule, type INestApplication, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  InjectLockService,
  Locked,
  LockOptionsError,
  LockService,
  RedisLockModule,
} from '../../lib/index.js';
import { NestBench } from '../support/nest-app.js';
import { keysTaken } from './keys-taken.js';

let bench: NestBench;
beforeAll(async () => {
  bench = await NestBench.start();
});
afterAll(async () => {
  await bench.stop();
});

describe('several modules in one application', () => {
  it('have a name each, by which they are injected and decorated', async () => {
    const module = await Test.createTestingModule({
      imports: [named(), named('billing')],
      providers: [Bills],
    }).compile();
    const app = await bench.use(module.createNestApplication({ logger: false }));
    const bills = app.get(Bills);
    expect(bills.unnamed).toBe(bills.locks);
    expect(bills.billing).not.toBe(bills.locks);
    expect(await bills.pay()).toEqual(['bill', 'undefined']);
    expect(await bills.plain()).toEqual(['bill', 'undefined']);
    expect(await keysTaken(bench.redis.url, bills.billing, 'k')).toEqual(['billing:k']);
    expect(await keysTaken(bench.redis.url, bills.locks, 'k')).toEqual(['main:k']);
  });

  it('work by forRootAsync too', async () => {
    const app = await start(
      named(),
      RedisLockModule.forRootAsync({
        name: 'billing',
        useFactory: () => ({ redis: bench.redis.url, keyPrefix: 'async:' }),
      }),
    );
    const billing = app.get<LockService>('LockService:billing');
    expect(await keysTaken(bench.redis.url, billing, 'k')).toEqual(['async:k']);
  });

  it('are refused at start-up without a name, or with the same one', async () => {
    await expect(start(named(), named())).rejects.toThrow('imported twice without a name');
    await expect(start(named('a'), named('a'))).rejects.toThrow('imported twice named "a"');
    await expect(start(named('a'), named('b'), named('b'))).rejects.toThrow(LockOptionsError);
  });

  it('are one when one is imported in two places', async () => {
    const shared = named();
    @Module({ imports: [shared] })
    class Feature {}
    await start(shared, { module: Feature });
  });

  it('must have been imported under the name that a decorator says', async () => {
    const module = await Test.createTestingModule({
      imports: [named()],
      providers: [{ provide: 'other', useClass: Wrong }],
    }).compile();
    const starting = bench.use(module.createNestApplication({ logger: false }));
    await expect(starting).rejects.toThrow('@Locked on Wrong.work names the module "bilbing"');
  });

  it('must be named by a decorator when all have names', async () => {
    const module = await Test.createTestingModule({
      imports: [named('billing')],
      providers: [Unnamed],
    }).compile();
    const starting = bench.use(module.createNestApplication({ logger: false }));
    await expect(starting).rejects.toThrow('@Locked on Unnamed.work names no module');
  });
});

function named(name?: string): DynamicModule {
  return RedisLockModule.forRoot({
    redis: bench.redis.url,
    keyPrefix: `${name ?? 'main'}:`,
    ...(name && { name }),
  });
}

async function start(...imports: DynamicModule[]): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports }).compile();
  return bench.use(module.createNestApplication({ logger: false }));
}

@Injectable()
class Bills {
  constructor(
    readonly locks: LockService,
    @InjectLockService('billing') readonly billing: LockService,
    @InjectLockService() readonly unnamed: LockService,
  ) {}

  @Locked('bill', { module: 'billing' })
  async pay(): Promise<string[]> {
    return [this.billing.current()!.key, String(this.locks.current()?.key)];
  }

  @Locked('bill')
  async plain(): Promise<string[]> {
    return [this.locks.current()!.key, String(this.billing.current()?.key)];
  }
}

@Injectable()
class Wrong {
  @Locked('a', { module: 'bilbing' })
  async work(): Promise<void> {}
}

@Injectable()
class Unnamed {
  @Locked('a')
  async work(): Promise<void> {}
}
