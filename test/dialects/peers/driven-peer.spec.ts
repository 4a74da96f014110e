import { describe, expect, it } from '@jest/globals';
import { Sides } from '../sides.js';
import { pythonRedisLock } from './index.js';

const sides = new Sides();
const here = pythonRedisLock.missing === undefined ? describe : describe.skip;

here('a peer in another language', () => {
  it('that ends leaves no question open, and refuses those that come then', async () => {
    const peer = await sides.peer(pythonRedisLock);
    expect(await peer.acquire('k', 5_000)).toBe(true);
    const open = peer.wait!('k');
    await Promise.all([expect(open).rejects.toThrow('The peer ended'), peer.close()]);
    await expect(peer.acquire('k', 5_000)).rejects.toThrow('The peer ended');
  });
});
