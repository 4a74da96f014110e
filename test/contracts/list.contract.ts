import { expect } from '@jest/globals';
import { lockName } from '../../lib/engine/keys/index.js';
import type { NameSearch } from '../../lib/engine/locks/lock-names.js';
import { READER } from '../../lib/engine/options/index.js';
import type { Contract } from '../support/contract.js';

function search(pattern: string, most = 1_000): NameSearch {
  const mayBe = (name: string): boolean => {
    try {
      return lockName(name, 512) === name;
    } catch {
      return false;
    }
  };
  return { pattern, most, mayBe };
}

export const list: Contract = {
  async 'all locks that are not free are found once, whatever they are held as, and no other key'(
    world,
  ) {
    const [a, b] = [await world.client(), await world.client()];
    await a.hold({ key: 'a' });
    await b.queue({ key: 'a' });
    await a.hold({ key: 'doc:{tenant}' });
    await a.hold({ key: '{all}' });
    await a.hold({ key: 'shared', share: READER });
    await b.hold({ key: 'shared', share: READER });
    await a.hold({ key: 'permits', share: { permits: 3, count: 2 } });
    await world.plant('foreign', 'string');
    const { request } = await a.hold({ key: 'given back' });
    await a.lock.release(request, 0);
    const { request: kept } = await a.hold({ key: 'kept' });
    await a.lock.release(kept, 60_000);
    const names = await b.store.names(search('*'));
    const expected = ['a', 'doc:{tenant}', 'foreign', 'kept', 'permits', 'shared', '{all}'];
    expect(names.sort()).toEqual(expected);
  },

  async 'a star stands for anything, and all else for itself'(world) {
    const a = await world.client();
    for (const key of ['a:1', 'a:12', 'b:1', 'a?1', 'a[1]', 'a\\1', 'a^1', 'a.1', 'x*', 'xy']) {
      await a.hold({ key });
    }
    const found = async (pattern: string): Promise<string[]> =>
      (await a.store.names(search(pattern))).sort();
    expect(await found('a:*')).toEqual(['a:1', 'a:12']);
    expect(await found('*:1')).toEqual(['a:1', 'b:1']);
    expect(await found('a:1')).toEqual(['a:1']);
    expect(await found('*1*')).toHaveLength(8);
    for (const literal of ['a?1', 'a[1]', 'a\\1', 'a^1', 'a.1']) {
      expect(await found(literal)).toEqual([literal]);
    }
    expect(await found('x*')).toEqual(['x*', 'xy']);
    expect(await found('nothing*')).toEqual([]);
  },

  async 'many are found, and no more than are enough'(world) {
    const a = await world.client();
    const keys = Array.from({ length: 2_500 }, (_, nth) => `many:${nth}`);
    for (let at = 0; at < keys.length; at += 100) {
      await Promise.all(keys.slice(at, at + 100).map((key) => a.hold({ key, ttl: 30_000 })));
    }
    expect(new Set(await a.store.names(search('many:*', 5_000)))).toEqual(new Set(keys));
    expect(new Set(await a.store.names(search('*', 70)))).toHaveProperty('size', 70);
  },
};
