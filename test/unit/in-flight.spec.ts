import { expect, it } from '@jest/globals';
import { InFlight } from '../../lib/engine/client/in-flight.js';
import { Gate } from '../support/gate.js';

it.each(['is answered', 'fails'])('a step is under way until it %s', async (end) => {
  const inFlight = new InFlight(100);
  const gate = new Gate();
  const step = inFlight.during(async () => {
    await gate.opened;
    if (end === 'fails') throw new Error(end);
  });
  expect(inFlight.any).toBe(true);
  gate.open();
  await step.catch(() => {});
  expect(inFlight.any).toBe(false);
});
