import type { HeldLease, HandOffTarget } from '../../lib/engine/client/leases/held-lease.js';
import type { LocalQueue } from '../../lib/engine/client/queue/local-queue.js';
import type { LossReason } from '../../lib/engine/errors/index.js';
import { type CallSettings, momentOf } from '../../lib/engine/options/index.js';
import {
  endlessTimeSlice,
  hastyBatch,
  inHeldLease,
  inRegistry,
  inLocalQueue,
  sameToken,
  secretBatch,
} from '../support/plant.js';
import { planted } from '../support/planted.js';
import { expiry } from './expiry.contract.js';
import { extension } from './extension.contract.js';
import { handOver } from './hand-over.contract.js';
import { localHandOff } from './local-hand-off.contract.js';
import { loss } from './loss.contract.js';
import { batches } from './batches.contract.js';
import { shutdown, shutdownOfHandOvers, shutdownOfLocks } from './shutdown.contract.js';
import { sleep, sleepAlone } from './sleep.contract.js';

/** What the client does wrongly with what the store says. */
planted('memory', {
  'a lease on which only the monotonic clock counts': {
    plant: inHeldLease('validity', () => ({
      get(this: HeldLease) {
        return this['clock'].monotonic() < this.deadline ? 'valid' : 'expired';
      },
    })),
    brokenSentences: [
      [sleep, 'a lease that is not renewed is not held at the first look after a sleep'],
      [sleep, 'a sleep that a wall clock set back hides is found'],
      [sleepAlone, 'a lease is passed on to no other caller after a sleep'],
    ],
  },
  'loss by timer only': {
    plant: inHeldLease('held', () => ({
      get(this: HeldLease) {
        return this.state === 'held';
      },
    })),
    brokenSentences: [
      [loss, 'at its deadline a lease is lost'],
      [loss, 'a machine that slept'],
      [expiry, 'a deadline leaves room'],
      [batches, 'a lease that is over'],
    ],
  },
  'loss that is told to nobody': {
    plant: inHeldLease('lose', () => ({
      value(this: HeldLease) {
        this['phase'] = 'lost';
      },
    })),
    brokenSentences: [
      [loss, 'at its deadline the signal aborts'],
      [extension, 'a renewal that fails for good'],
      [expiry, 'a lease that is not renewed ends'],
      [expiry, 'renewal ends with maxHold'],
      [handOver, 'a lease that is not renewed ends'],
      [loss, 'a lease says why'],
      [loss, 'a lease that another has'],
      [loss, 'a lease that an operator took'],
    ],
  },
  'a batch of which the store never hears': {
    plant: secretBatch,
    brokenSentences: [
      [batches, 'neighbours of one process'],
      [batches, 'who awaits a condition'],
      [batches, 'while one stays'],
    ],
  },
  'a batch through entries that may still be granted': {
    plant: hastyBatch,
    brokenSentences: [[batches, 'an entry whose ask got lost']],
  },
  'a batch that nothing ends': {
    plant: endlessTimeSlice,
    brokenSentences: [[batches, 'a batch is over after its time slice']],
  },
  'a successor that keeps its predecessor’s token': {
    plant: sameToken,
    brokenSentences: [
      [localHandOff, 'tokens grow from caller'],
      [localHandOff, 'tokens grow although the server'],
      [localHandOff, 'no two leases overlap'],
      [batches, 'neighbours of one process'],
    ],
  },
  'a successor that stays longer than its lease': {
    plant: inHeldLease('successor', (successor) => ({
      value(this: HeldLease, call: CallSettings, successors: HandOffTarget) {
        return Object.assign(successor.call(this, call, successors), {
          term: { ...this.term, remaining: 10 * this.term.remaining },
        });
      },
    })),
    brokenSentences: [[localHandOff, 'a lease is passed on with no more time than is left']],
  },
  'a successor whose lease is as long as a new one': {
    plant: inHeldLease('successor', (successor) => ({
      value(this: HeldLease, call: CallSettings, successors: HandOffTarget) {
        const clock = this['clock'];
        return Object.assign(successor.call(this, call, successors), {
          term: { sent: momentOf(clock), remaining: call.ttl },
        });
      },
    })),
    brokenSentences: [[batches, 'a lease that is passed on ends no later']],
  },
  'a local queue that forgets its waiters when the lease is lost': {
    plant: inLocalQueue('ended', (ended) => ({
      value(this: LocalQueue, heldLease: HeldLease) {
        if (heldLease.state === 'lost') this['context'].slices.delete(this);
        else ended.call(this, heldLease);
      },
    })),
    brokenSentences: [[localHandOff, 'who loses the lock to an operator']],
  },
  'a giver who does not hear that its lease is over': {
    plant: inHeldLease('lose', (lose) => ({
      value(this: HeldLease, reason: LossReason) {
        if (reason !== 'transferred') lose.call(this, reason);
      },
    })),
    brokenSentences: [[handOver, 'it is over where it was given away']],
  },
  'a shutdown does not wait for what is held': {
    plant: inRegistry('idle', () => ({ value: () => Promise.resolve() })),
    brokenSentences: [
      [shutdown, 'what is held is renewed until it is given back'],
      [shutdown, 'a lease that is just being given back'],
      [shutdownOfLocks, 'who holds a lock enters it again'],
    ],
  },
  'a shutdown waits for ever': {
    plant: inRegistry('idle', () => ({ value: () => new Promise(() => {}) })),
    brokenSentences: [[shutdown, 'what is held is renewed until it is given back']],
  },
  'a shutdown leaves its holders what they hold': {
    plant: inRegistry('releaseAll', () => ({ value: () => [] })),
    brokenSentences: [
      [shutdown, 'what is left when the grace is over'],
      [shutdown, 'without a grace'],
      [shutdownOfLocks, 'several locks of one lease'],
      [shutdownOfHandOvers, 'a hand-over that comes to nothing'],
    ],
  },
});
