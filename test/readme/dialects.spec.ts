import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { NestBench } from '../support/nest-app.js';
import { InvoiceService } from './dialects.js';

let bench: NestBench;
let invoices: InvoiceService;
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

describe('the README’s services', () => {
  it('share locks with services of another kind', async () => {
    await python.set('invoice:7', 'a worker’s', 'PX', 150);
    const asked = performance.now();
    expect(await invoices.pay('7')).toBe(1);
    expect(performance.now() - asked).toBeGreaterThan(100);
    expect(await python.exists('invoice:7')).toBe(0);
    expect(await invoices.restock()).toBeGreaterThan(0);
  });
});
