import { afterEach, expect, it, jest } from '@jest/globals';
import { Controller, Get, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { CurrentLease, type Lease, Locked, LockedRequest } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/memory/testing/index.js';

/** How often an option is read. */
let reads = 0;
const options = {
  get ttl(): '20s' {
    reads += 1;
    return '20s';
  },
  get onLost(): 'throw' {
    reads += 1;
    return 'throw';
  },
  get onUnavailable(): 'throw' {
    reads += 1;
    return 'throw';
  },
  get module(): undefined {
    reads += 1;
    return undefined;
  },
};

@Injectable()
class Accounts {
  @Locked('account:<dto.id>:<_word>', options)
  async withdraw(
    dto: { id: string },
    _word: string,
    @CurrentLease() lease?: Lease,
  ): Promise<string> {
    return `${dto.id} under ${lease!.key}`;
  }
}

@Controller()
class Orders {
  @LockedRequest('order', options)
  @Get('order')
  async place(): Promise<string> {
    return 'placed';
  }
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** How often anything is asked that is known before a call: options, metadata, the source of a method, the text of a template. */
async function asksDuring(calls: () => Promise<void>): Promise<Record<string, number>> {
  const spies = {
    metadata: [jest.spyOn(Reflect, 'getMetadata'), jest.spyOn(Reflect, 'getOwnMetadata')],
    source: [jest.spyOn(Function.prototype, 'toString')],
    template: [jest.spyOn(String.prototype, 'matchAll')],
  };
  const before = reads;
  await calls();
  const asks = { options: reads - before };
  const counted = Object.entries(spies).map(([what, several]) => [
    what,
    several.reduce((sum, { mock }) => sum + mock.calls.length, 0),
  ]);
  return { ...asks, ...(Object.fromEntries(counted) as Record<string, number>) };
}

const NOTHING = { options: 0, metadata: 0, source: 0, template: 0 };

it('a call of a method under @Locked reads no option, no metadata, no source and no template anew', async () => {
  const imports = [LockTestingModule.forRoot()];
  const app = await Test.createTestingModule({ imports, providers: [Accounts] }).compile();
  await app.init();
  const accounts = app.get(Accounts);
  const withdraw = (): Promise<string> => accounts.withdraw({ id: '7' }, 'x');
  await withdraw();
  const asks = await asksDuring(async () => {
    for (let calls = 0; calls < 5; calls += 1) expect(await withdraw()).toBe('7 under account:7:x');
  });
  expect(asks).toEqual(NOTHING);
  await app.close();
});

it('a request under @LockedRequest reads no option, no metadata, no source and no template anew', async () => {
  const imports = [LockTestingModule.forRoot()];
  const testing = await Test.createTestingModule({ imports, controllers: [Orders] }).compile();
  const app = testing.createNestApplication();
  await app.listen(0);
  const url = `${await app.getUrl()}/order`;
  const place = async (): Promise<string> => (await fetch(url)).text();
  await place();
  const asks = await asksDuring(async () => {
    for (let calls = 0; calls < 5; calls += 1) expect(await place()).toBe('placed');
  });
  expect(asks).toEqual(NOTHING);
  await app.close();
});
