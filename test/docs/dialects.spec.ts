import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { NestBench } from '../support/nest-app.js';
import { pasted } from './pages.js';

const { InvoiceService } = await pasted<any>('docs/other-services.md');

let bench: NestBench;
let invoices: any;
let python: Redis;
beforeAll(async () => {
  bench = await NestBench.start();
  invoices = (await bench.app({ providers: [InvoiceService] })).get(InvoiceService);
  python = new Redis(bench.redis.url);
});
afterAll(async () => {
  python.disconnect();
  await bench.stop();
});

describe('the services of Locks shared with other services', () => {
  it('share locks with services of another kind', async () => {
    await python.set('invoice:7', 'a worker’s', 'PX', 150);
    const asked = performance.now();
    await invoices.pay('7');
    expect(performance.now() - asked).toBeGreaterThan(100);
    expect(await python.exists('invoice:7')).toBe(0);
    expect(await invoices.restock()).toBeGreaterThan(0);
  });
});
