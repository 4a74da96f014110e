import { afterEach, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { LockTestingModule } from '../../lib/memory/testing/index.js';
import { Accounts, asksDuring, Orders } from './counted-asks.js';

afterEach(() => {
  jest.restoreAllMocks();
});

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
