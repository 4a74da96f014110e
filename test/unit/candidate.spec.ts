import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Candidate } from '../../lib/nest/services/candidate.js';
import { systemClock } from '../../lib/engine/options/index.js';
import type { Election } from '../../lib/nest/services/election.js';
import { until } from '../support/until.js';

Logger.overrideLogger(false);
afterEach(() => void jest.restoreAllMocks());

describe('a candidate', () => {
  it('campaigns again where it has lost the lead as soon as it had it', async () => {
    const lost = AbortSignal.abort(new Error('lost'));
    const leads = new AbortController().signal;
    const signals = [lost, leads];
    let campaigns = 0;
    const election = {
      key: 'leader:x',
      stepsDown: true,
      campaign: async () => ({ signal: signals[campaigns++]! }),
      resign: async () => false,
    };
    const candidate = new Candidate(election as unknown as Election, systemClock);
    candidate.stand();
    await until('it campaigns twice', () => campaigns === 2); // else this times out
    await candidate.retire();
  });

  it('logs why a campaign failed, once for the same reason, and campaigns again', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    let campaigns = 0;
    const election = {
      key: 'leader:x',
      stepsDown: true,
      campaign: async () => {
        campaigns += 1;
        throw new Error('no answer.');
      },
      resign: async () => false,
    };
    const candidate = new Candidate(election as unknown as Election, systemClock);
    candidate.stand();
    await until('it campaigns twice', () => campaigns === 2);
    await candidate.retire();
    expect(warn.mock.calls).toEqual([['no answer. The campaign is repeated.']]);
  });
});
