import type { Answer } from '../../lib/engine/locks/lock-store.js';
import { momentOf } from '../../lib/engine/options/index.js';
import { datedLate } from '../support/dated-late.js';
import { endlessTurn } from '../support/plant.js';
import { planted } from '../support/planted.js';
import { withSteps } from '../support/world.js';
import { cancellation } from './cancellation.contract.js';
import { deadWaiters } from './dead-waiters.contract.js';
import { errors } from './errors.contract.js';
import { expiry } from './expiry.contract.js';
import { extension } from './extension.contract.js';
import { fencing } from './fencing.contract.js';
import { handOver } from './hand-over.contract.js';
import { hints } from './hints.contract.js';
import { limits } from './limits.contract.js';
import { localHandOff } from './local-hand-off.contract.js';
import { loss } from './loss.contract.js';
import { optimistic } from './optimistic.contract.js';
import { ownership } from './ownership.contract.js';
import { permits } from './permits.contract.js';
import { batches } from './batches.contract.js';
import { sharedMode } from './shared-mode.contract.js';
import { shutdownOfLocks } from './shutdown.contract.js';
import { sleep, sleepAlone } from './sleep.contract.js';

/** What a store, or what is between it and the client, does wrongly. */
planted('memory', {
  'a deadline counted from the reply': {
    plant: {
      wrap: (store, clock) =>
        withSteps(store, {
          acquire: async (ask) => {
            const answer = await store.acquire(ask);
            return answer.kind === 'held' ? { ...answer, sent: momentOf(clock) } : answer;
          },
        }),
    },
    brokenSentences: [[expiry, 'a deadline counts from the sending']],
  },
  'a lease that lasts much longer than was asked for': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          acquire: (ask) => store.acquire({ ...ask, ttl: 20 * ask.ttl }),
        }),
    },
    brokenSentences: [
      [expiry, 'a lease ends at its ttl'],
      [ownership, 'an extension brings no lease back'],
      [optimistic, 'a stamp does not validate after the lease'],
    ],
  },
  'an extension that only says so': {
    plant: {
      wrap: (store, clock) =>
        withSteps(store, {
          extend: async (requests) => ({
            remaining: requests.map(({ ttl }) => ttl),
            sent: momentOf(clock),
          }),
        }),
    },
    brokenSentences: [
      [extension, 'an extension gives the lease'],
      [extension, 'a process renews hundreds'],
      [permits, 'several permits are extended'],
    ],
  },
  'a batch that all nodes share': {
    plant: {
      wrap: (store) => withSteps(store, { batches: (requests) => [requests.map((_, at) => at)] }),
    },
    brokenSentences: [[loss, 'a node that hangs']],
  },
  'a renewal for each lease alone': {
    plant: {
      wrap: (store) => withSteps(store, { batches: (requests) => requests.map((_, at) => [at]) }),
    },
    brokenSentences: [[limits, 'one call renews']],
  },
  'a store that is waited for without end': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          acquire: (ask) => store.acquire(ask).catch(() => new Promise(() => {})),
        }),
    },
    brokenSentences: [[errors, 'a store that does not answer']],
  },
  'a wall clock that is read with the answer': {
    plant: { wrap: datedLate },
    brokenSentences: [
      [sleep, 'a grant whose answer a sleep held up makes nobody a holder'],
      [sleep, 'a renewal whose answer a sleep held up keeps nothing'],
      [sleep, 'an extension whose answer a sleep held up is none'],
      [sleepAlone, 'who awaited a condition and slept over the answer'],
    ],
  },
  'no poll': {
    plant: {
      wrap(store) {
        const answers = new Map<string, Answer>();
        return withSteps(store, {
          acquire: async (ask) => {
            const answer = answers.get(ask.holder) ?? (await store.acquire(ask));
            if (answer.kind === 'queued') answers.set(ask.holder, answer);
            return answer;
          },
        });
      },
    },
    brokenSentences: [
      [hints, 'a waiter whose push was lost'],
      [expiry, 'who waits behind a crashed holder'],
      [deadWaiters, 'a process that waits long'],
      [permits, 'a crash costs the ttl'],
      [sharedMode, 'a crashed reader delays'],
      [handOver, 'it ends after its ttl'],
      [batches, 'a process that dies'],
    ],
  },
  'a caller who gives up and keeps the lock for a minimum hold': {
    plant: {
      wrap: (store) => withSteps(store, { leave: (request) => store.release(request, 20_000) }),
    },
    brokenSentences: [[cancellation, 'what was granted to a caller that had given up']],
  },
  'a caller who gives up without leaving': {
    plant: { wrap: (store) => withSteps(store, { leave: async () => false }) },
    brokenSentences: [
      [cancellation, 'an aborted wait'],
      [cancellation, 'a wait that is over'],
      [limits, 'a queue that is full refuses'],
      [batches, 'who gives up before its turn'],
      [batches, 'while one stays'],
      [batches, 'those behind a lease that is lost'],
      [batches, 'a process that shuts down'],
    ],
  },
  'a watchdog that stops after one error': {
    plant: {
      wrap(store) {
        let stopped = false;
        return withSteps(store, {
          extend: (requests) => {
            if (stopped) return new Promise(() => {});
            return store.extend(requests).catch((error: unknown) => {
              stopped = true;
              throw error;
            });
          },
        });
      },
    },
    brokenSentences: [[extension, 'a renewal that fails is tried again']],
  },
  'no watchdog': {
    plant: { wrap: (store) => withSteps(store, { extend: () => new Promise(() => {}) }) },
    brokenSentences: [
      [extension, 'a lease is renewed as long'],
      [loss, 'a lease that the server lost'],
      [extension, 'a short first lease'],
      [fencing, 'a token is that of the lease'],
      [handOver, 'who restored it'],
      [handOver, 'a hand-over that did not happen'],
      [hints, 'a lease that an operator took'],
      [limits, 'one call renews'],
      [loss, 'a node that hangs'],
      [loss, 'a lease that another has'],
      [expiry, 'renewal ends with maxHold'],
      [shutdownOfLocks, 'several locks of one lease'],
      [loss, 'a wall clock that ran ahead'],
    ],
  },
  'a local queue that hands the lock on for ever': {
    plant: { wrap: endlessTurn },
    brokenSentences: [
      [localHandOff, 'two hot processes'],
      [localHandOff, 'a hot process whose sections take no time'],
      [localHandOff, 'fenced and unfenced callers'],
    ],
  },
  'a turn given away without the lease': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          acquire: async (ask) => {
            const answer = await store.acquire({ ...ask, former: undefined });
            return { ...answer, gaveBack: ask.former !== undefined };
          },
        }),
    },
    brokenSentences: [
      [localHandOff, 'a hot process whose sections take no time'],
      [localHandOff, 'who wants a much shorter lease'],
      [localHandOff, 'each of 5,000 waiters'],
    ],
  },
  'an entry left behind by the last waiter': {
    plant: { wrap: (store) => withSteps(store, { leave: async () => false }) },
    brokenSentences: [[localHandOff, 'the last waiter that leaves']],
  },
  'a stamp that asks only whether somebody holds the lock now': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          stamp: async (key) => ((await store.stamp(key)) === undefined ? undefined : 1),
        }),
    },
    brokenSentences: [
      [optimistic, 'a stamp does not validate while'],
      [optimistic, 'a stamp does not validate after'],
      [optimistic, 'of many readers beside writers'],
    ],
  },
});
