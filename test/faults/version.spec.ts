import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockStoreError } from '../../lib/errors/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockClient } from '../support/lock-client.js';

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
  const client = new LockClient({ redis: server.url });
  try {
    if (Number.parseFloat(version) < OLDEST) {
      const refused = expect(client.leases.open()).rejects;
      await refused.toThrow(`it is version ${version}, and locks need 6.2 or later`);
      await expect(client.acquire('k')).rejects.toThrow(LockStoreError);
    } else {
      await client.leases.open();
      expect(await (await client.acquire('k')).release()).toBe(true);
    }
  } finally {
    await client.close();
  }
});
