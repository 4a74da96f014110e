import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Heard } from '../support/heard.js';
import { kinds } from '../support/kinds.js';
import { later } from '../support/later.js';
import { MemoryWorld } from '../support/memory-world.js';

it('what a failed check has left under way goes no further in a world that is closed', async () => {
  const world = new MemoryWorld(kinds['lock']!);
  const process = await world.process();
  let turns = 0;
  const goesOn = async (): Promise<void> => {
    for (;;) {
      const asking = process.acquire().then((lease) => lease.release());
      await asking.catch(() => {});
      await world.elapse(1);
      turns += 1;
    }
  };
  const comesLate = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    await process.acquire();
  };
  void later(goesOn());
  void later(comesLate());
  await world.elapse(10);
  await world.close();
  const before = turns;
  using heard = new Heard();
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  expect(heard.calls).toEqual([]);
  expect(turns).toBeLessThanOrEqual(before + 1);
});
