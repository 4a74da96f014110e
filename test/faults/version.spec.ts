import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';

/** The oldest Redis with all that the scripts use. */
const OLDEST = 6.2;

let server: RedisProcess;
let version: string;
beforeAll(async () => {
  server = await RedisProcess.start();
  const control = new Redis(server.url);
  version = /redis_version:(\S+)/.exec(await control.info('server'))![1]!;
  control.disconnect();
});
afterAll(() => server.stop());

// `npm run test:servers` starts servers of all ages.
it('the server that the tests start keeps locks, or is refused at the start where it is too old', async () => {
  const client = new LockProcess({ redis: server.url });
  const start = await client.locks.open().then(() => true, String);
  const use = await client.acquire('k').then((lease) => lease.release(), String);
  const refusal = expect.stringMatching(
    /^LockStoreError: .*it is version .*, and locks need 6\.2 or later/,
  );
  const comes = Number.parseFloat(version) < OLDEST ? refusal : true;
  expect({ start, use }).toEqual({ start: comes, use: comes });
  await client.close();
});
