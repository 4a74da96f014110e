import { afterAll, beforeAll, expect } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../../tools/redis-server.js';
import type { Consumer } from '../consumer.js';
import { BUILDING, pack } from '../packed.js';

/** Where a test file installs the packed library, and the Redis of its applications. */
export class Place {
  folder!: string;
  tarball!: string;
  redis!: RedisProcess;

  constructor() {
    beforeAll(async () => {
      this.folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-package-'));
      [this.tarball, this.redis] = await Promise.all([pack(this.folder), RedisProcess.start()]);
    }, BUILDING);
    afterAll(async () => {
      await this.redis?.stop();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }
}

/** The platforms of Nest for HTTP. */
const PLATFORMS = ['Express', 'Fastify'] as const;

/** The application is built, starts on each platform, locks in every way, and ends by itself. */
export async function startsAndLocks(consumer: Consumer, redis: string): Promise<void> {
  const built = await consumer.node(['node_modules/typescript/bin/tsc', '-p', '.']);
  expect(built).toEqual({ code: 0, stdout: '', stderr: '' });
  for (const platform of PLATFORMS) {
    const env = { REDIS_URL: redis, PLATFORM: platform };
    const { code, stdout, stderr } = await consumer.node(['dist/main.js'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      platform: platform.toLowerCase(),
      route: 'balance of 7',
      withdrawn: '10 from account:42 by this process',
      audited: true,
      busy: 'LOCK_NOT_ACQUIRED',
      testing: expect.arrayContaining(['LockTestingModule', 'ManualClock']),
    });
  }
}
