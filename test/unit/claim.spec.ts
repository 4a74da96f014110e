import { expect, it } from '@jest/globals';
import { NATIVE } from '../../lib/engine/options/index.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { Claim } from '../../lib/engine/client/leases/claim.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { Gate } from '../support/gate.js';

const request = { key: 'k', holder: 'me', ttl: 1_000, tokenBlock: 0, format: NATIVE };

it.each(['is answered', 'fails'])('a step is under way until it %s', async (end) => {
  const claim = new Claim(request, 100, new ManualClock());
  const gate = new Gate();
  const step = claim.during(async () => {
    await gate.opened;
    if (end === 'fails') throw new Error(end);
  });
  expect(claim.any).toBe(true);
  gate.open();
  await step.catch(() => {});
  expect(claim.any).toBe(false);
});

it('what a holder id has sent may take effect until the last of it is too old, in whatever order it fails', async () => {
  const clock = new ManualClock();
  const claim = new Claim(request, 500, clock);
  const lost = new LockStoreError('No answer.', { outcome: 'unknown' });
  expect([claim.uncertainUntil, claim.isUncertain]).toEqual([-Infinity, false]);
  const first = claim.sent();
  await clock.advance(100);
  const second = claim.sent();
  expect(claim.uncertainUntil).toBe(600);
  expect(claim.failed(lost, second)).toBe('unknown');
  expect(claim.failed(lost, first)).toBe('unknown');
  expect([claim.uncertainUntil, claim.isUncertain]).toEqual([600, true]);
  await clock.advance(100);
  claim.sent();
  expect(claim.uncertainUntil).toBe(700);
  claim.answered();
  expect(claim.uncertainUntil).toBe(600);
  await clock.advance(400);
  expect(claim.isUncertain).toBe(false);
});

it('an error that is none of the store says that nothing was done', () => {
  const claim = new Claim(request, 500, new ManualClock());
  expect(claim.failed(new TypeError(), claim.sent())).toBe('refused');
  expect(claim.isUncertain).toBe(false);
});
