import { Test, type TestingModule } from '@nestjs/testing';
import * as testing from 'nest-redis-lock/testing';
import { AppModule, Bank } from './bank';

describe('the bank', () => {
  let module: TestingModule;

  beforeAll(async () => {
    module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    await module.init();
  });

  afterAll(() => module.close());

  it('withdraws under a lock', async () => {
    const withdrawn = await module.get(Bank).withdraw('42', 10);
    expect(withdrawn).toBe('10 from account:42 by this process');
  });

  it('takes a lease and gives it back', async () => {
    expect(await module.get(Bank).audit()).toBe(true);
  });

  it('finds the testing entry point', () => {
    expect(Object.keys(testing).length).toBeGreaterThan(0);
  });
});
