import { expect, it } from '@jest/globals';
import { hasSlots } from '../../lib/engine/redis/server-check.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { replyError } from '../support/fake-redis.js';

/** Of a server that answers so to scripts with two keys, or with any. */
const asked = (answer: string, bears = 1): Promise<boolean> => {
  const send = async (_: string, [, keys]: readonly number[]): Promise<unknown> => {
    if (keys! <= bears) return 1;
    throw storeFailure(replyError(answer), undefined);
  };
  return hasSlots({ send } as never, 'p');
};

it.each([
  'CROSSSLOT Keys in request don’t hash to the same slot',
  "ERR 'EVAL' command keys must in same slot",
  "'EVAL' is not supported with keys of two shards",
])('a server that says "%s" takes no keys of two slots together', async (answer) => {
  await expect(asked(answer)).resolves.toBe(true);
});

it.each([
  'LOADING Redis is loading the dataset in memory',
  "OOM command not allowed when used memory > 'maxmemory'.",
  'BUSY Redis is busy running a script.',
  'CLUSTERDOWN The cluster is down',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'MOVED 1 127.0.0.1:1',
  'ERR max number of clients reached',
])('a server that says "%s" is asked again', async (answer) => {
  await expect(asked(answer)).rejects.toMatchObject({ retryable: true });
});

it('a user who lacks the right to a key says nothing of slots', async () => {
  await expect(asked('NOPERM No permissions to access a key')).resolves.toBe(false);
});

it('a proxy that takes no key at all, with words of its own, says nothing of slots', async () => {
  await expect(asked('ERR no upstream host', 0)).rejects.toMatchObject({ outcome: 'refused' });
});
