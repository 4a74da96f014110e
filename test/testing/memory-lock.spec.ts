import { expect, it } from '@jest/globals';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';

it('a holder without tokens that asks twice gets none of an earlier one', async () => {
  const world = new MemoryWorld(kinds['lock']!);
  const client = await world.client();
  const { request: fenced } = await client.hold();
  await client.lock.release(fenced, 0);
  const { request } = await client.hold({ tokenBlock: 0 });
  expect(await client.ask(request)).toMatchObject({
    kind: 'held',
    fencingToken: undefined,
    tokens: 0,
  });
  await world.close();
});
