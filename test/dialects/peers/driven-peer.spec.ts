import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisProcess } from '../../../tools/redis-server.js';
import { pythonRedisLock } from './index.js';

const here = pythonRedisLock.missing === undefined ? describe : describe.skip;

here('a peer in another language', () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = await RedisProcess.start();
  });
  afterAll(() => redis.stop());

  it('that ends leaves no question open, and refuses those that come then', async () => {
    const peer = await pythonRedisLock.connect(redis.url);
    expect(await peer.acquire('k', 5_000)).toBe(true);
    const open = peer.wait!('k');
    await Promise.all([expect(open).rejects.toThrow('The peer ended'), peer.close()]);
    await expect(peer.acquire('k', 5_000)).rejects.toThrow('The peer ended');
  });
});
