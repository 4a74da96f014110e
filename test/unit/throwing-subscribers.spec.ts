import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { compiledWorkers } from '../support/compiled-workers.js';

it('a subscriber that throws on a channel harms no lock, and Node.js tells of each error', () => {
  const main = join(compiledWorkers(), 'test/support/throwing-subscribers-main.js');
  const { came, uncaught } = JSON.parse(
    execFileSync(process.execPath, [main], { encoding: 'utf8' }),
  ) as { came: unknown[]; uncaught: Record<string, number> };
  expect(came).toEqual([true, 'LOCK_NOT_ACQUIRED', true, true, 'forced', true]);
  expect(uncaught).toMatchObject({
    'acquire:start': 5,
    bindStore: 5,
    'acquire:asyncEnd': 5,
    'acquire:error': 1,
    'hold:start': 6,
    'hold:asyncEnd': 6,
    acquired: 4,
    contended: 1,
    timedOut: 1,
    handedOff: 1,
    lost: 1,
  });
});
