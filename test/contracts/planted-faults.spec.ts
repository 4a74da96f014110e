import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LossReason } from '../../lib/errors/index.js';
import type { HeldLock, Successors } from '../../lib/client/held-lock.js';
import type { LocalQueue } from '../../lib/client/local-queue.js';
import type { Answer } from '../../lib/locks/lock-store.js';
import { type CallSettings, momentOf } from '../../lib/options/index.js';
import { SHORT_PATIENCE } from '../support/bounds.js';
import type { Check, Contract } from '../support/contract.js';
import { datedLate } from '../support/dated-late.js';
import { kinds } from '../support/kinds.js';
import {
  both,
  endlessSlice,
  endlessTurn,
  hastyRun,
  inConditions,
  inHeldLock,
  inHeldLocks,
  inLocalQueue,
  inScripts,
  inShares,
  type Plant,
  sameToken,
  secretRun,
} from '../support/plant.js';
import { type Topology, topologies } from '../support/topologies.js';
import { withSteps } from '../support/world.js';
import { cancellation } from './cancellation.contract.js';
import { conditions } from './conditions.contract.js';
import { deadWaiters } from './dead-waiters.contract.js';
import { errors } from './errors.contract.js';
import { expiry } from './expiry.contract.js';
import { extension } from './extension.contract.js';
import { fencing, fencingOnRedis } from './fencing.contract.js';
import { handOff, handOffOnRedis } from './hand-off.contract.js';
import { handOver } from './hand-over.contract.js';
import { hints } from './hints.contract.js';
import { idempotence } from './idempotence.contract.js';
import { limits } from './limits.contract.js';
import { localHandOff } from './local-hand-off.contract.js';
import { loss } from './loss.contract.js';
import { mutualExclusion } from './mutual-exclusion.contract.js';
import { optimistic } from './optimistic.contract.js';
import { order } from './order.contract.js';
import { ownership } from './ownership.contract.js';
import { permits, permitsOnRedis } from './permits.contract.js';
import { runs } from './runs.contract.js';
import { sharedMode } from './shared-mode.contract.js';
import { shutdown, shutdownOfHandOvers, shutdownOfLocks } from './shutdown.contract.js';
import { sleep, sleepAlone } from './sleep.contract.js';

interface Fault {
  readonly plant: Plant;
  /** Where it shows: a script only on Redis, a mistake around it also in memory, which is faster. */
  readonly on: 'one Redis' | 'memory';
  /** The contract and the first words of the sentences that must not hold any more. */
  readonly brokenSentences: readonly (readonly [Contract, string])[];
}

const GRANTING = ['acquire', 'release', 'leave', 'force'] as const;

// What scripts do wrongly, in Lua.
const NEVER = `'9000000000000000'`;
const NOTHING = `return 0`;
const UNCONDITIONALLY = `return right(said, about, (select(3, ...)), 'PX', ttl)`;
/** What stands there, but never the asker itself. */
const ANOTHERS = `local current = right(...) return current and 'another'`;
/** Writes that wait in a list, the last before the others. */
const LATER = `table.insert(kept, 1, { ... }) return 1`;
const UNCOUNTED = `function(current, kind, permits, ...) return right(current, kind, 1000, ...) end`;
/** Keeps in mind what lease the first waiter asked for, and gives it to it. */
const FIRST_TTL = `local found = right(...) kept.ttl = string.match(found[1] or '', '/(%d+)/[xc]') return found`;
const FULL_LEASE = `if kept.ttl then return right(said, about, (select(3, ...)), 'PX', kept.ttl) end`;
/** One that has not come, whatever it says. */
const NOT_OVER = `return right(...) and redis.call('TIME')[1] * 1000 + 1000`;
/** All places of the process, wherever they are. */
const LEAPING = `function(process, place, at)
  local own, last = 0, '-'
  for _, other in ipairs(redis.call('ZRANGE', queue, at, at + 63)) do
    if string.match(other, '^[^/]+') == process then own, last = own + 1, redis.call('ZSCORE', queue, other) end
  end
  return own, last
end`;

const faults: Readonly<Record<string, Fault>> = {
  'taking a lock that is held': {
    plant: inScripts(['acquire'], { commands: { 'SET lock': UNCONDITIONALLY } }),
    on: 'one Redis',
    brokenSentences: [
      [mutualExclusion, 'a lock that is held'],
      [mutualExclusion, 'of many who ask once'],
      [mutualExclusion, 'no two leases overlap, and no update is lost'],
      [errors, 'a foreign string is contention'],
    ],
  },
  'release without comparing': {
    plant: inScripts(['release'], { commands: { 'GET lock': `return right(...) and holder` } }),
    on: 'one Redis',
    brokenSentences: [
      [ownership, 'a stranger cannot release'],
      [ownership, 'who held the lock before'],
      [idempotence, 'a release that arrives twice'],
    ],
  },
  'no answer for a repeated acquire': {
    plant: inScripts(['acquire'], { commands: { 'GET lock': ANOTHERS } }),
    on: 'one Redis',
    brokenSentences: [
      [idempotence, 'an acquire that arrives twice'],
      [idempotence, 'a pushed grant is found again'],
    ],
  },
  'a repeated acquire that mints anew': {
    plant: inScripts(['acquire'], { commands: { 'GET fence': `return false` } }),
    on: 'one Redis',
    brokenSentences: [
      [idempotence, 'an acquire that arrives twice'],
      [idempotence, 'a pushed grant is found again'],
    ],
  },
  'a push that may not be sent counts as heard': {
    plant: inScripts(['release'], {
      commands: { PUBLISH: `local told = right(...) return tonumber(told) or 1` },
    }),
    on: 'one Redis',
    brokenSentences: [[handOffOnRedis, 'a waiter whose holder may not publish']],
  },
  'the dead live on where the clock was set back': {
    plant: inScripts(['acquire'], { commands: { 'ZRANGEBYSCORE seen': `return {}` } }),
    on: 'one Redis',
    brokenSentences: [[deadWaiters, 'who died before the clock was set back']],
  },
  'a repeated acquire that counts a full ttl': {
    plant: inScripts(['acquire'], { commands: { 'PTTL lock': `return tonumber(ttl)` } }),
    on: 'one Redis',
    brokenSentences: [[idempotence, 'a repeated acquire answers what is left']],
  },
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
    on: 'memory',
    brokenSentences: [[expiry, 'a deadline counts from the sending']],
  },
  'a lease that lasts much longer than was asked for': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          acquire: (ask) => store.acquire({ ...ask, ttl: 20 * ask.ttl }),
        }),
    },
    on: 'memory',
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
    on: 'memory',
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
    on: 'memory',
    brokenSentences: [[loss, 'a node that hangs']],
  },
  'a renewal for each lease alone': {
    plant: {
      wrap: (store) => withSteps(store, { batches: (requests) => requests.map((_, at) => [at]) }),
    },
    on: 'memory',
    brokenSentences: [[limits, 'one call renews']],
  },
  'a store that is waited for without end': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          acquire: (ask) => store.acquire(ask).catch(() => new Promise(() => {})),
        }),
    },
    on: 'memory',
    brokenSentences: [[errors, 'a store that does not answer']],
  },
  'a wall clock that is read with the answer': {
    plant: { wrap: datedLate },
    on: 'memory',
    brokenSentences: [
      [sleep, 'a grant whose answer a sleep held up makes nobody a holder'],
      [sleep, 'a renewal whose answer a sleep held up keeps nothing'],
      [sleep, 'an extension whose answer a sleep held up is none'],
      [sleepAlone, 'who awaited a condition and slept over the answer'],
    ],
  },
  'a lease on which only the monotonic clock counts': {
    plant: inHeldLock('validity', () => ({
      get(this: HeldLock) {
        return this['clock'].monotonic() < this.deadline ? 'valid' : 'expired';
      },
    })),
    on: 'memory',
    brokenSentences: [
      [sleep, 'a lease that is not renewed is not held at the first look after a sleep'],
      [sleep, 'a sleep that a wall clock set back hides is found'],
      [sleepAlone, 'a lease is passed on to no other caller after a sleep'],
    ],
  },
  'a fence by INCR only': {
    plant: inScripts(GRANTING, {
      functions: { mint_fencing_tokens: `function(fence) return redis.call('INCR', fence), 1 end` },
    }),
    on: 'one Redis',
    brokenSentences: [
      [fencing, 'tokens grow although the server lost everything'],
      [cancellation, 'every key has an end'],
    ],
  },
  'a fence that stands still': {
    plant: inScripts(GRANTING, {
      functions: {
        mint_fencing_tokens: `function(fence, now) return tonumber(redis.call('GET', fence) or redis.call('SET', fence, now, 'PX', 9999, 'GET') or now), 1 end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [
      [fencing, 'tokens grow with every grant'],
      [mutualExclusion, 'no two leases overlap, and no update is lost'],
    ],
  },
  'numbers written by Lua’s own way': {
    plant: inScripts(GRANTING, {
      functions: { whole: `function(number) return '' .. number end` },
    }),
    on: 'one Redis',
    brokenSentences: [
      [order, 'places keep their arrival'],
      [fencingOnRedis, 'tokens and arrivals are written'],
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
    on: 'memory',
    brokenSentences: [
      [hints, 'a waiter whose push was lost'],
      [expiry, 'who waits behind a crashed holder'],
      [deadWaiters, 'a process that waits long'],
      [permits, 'a crash costs the ttl'],
      [sharedMode, 'a crashed reader delays'],
      [handOver, 'it ends after its ttl'],
      [runs, 'a process that dies'],
    ],
  },
  'a zombie acquire': {
    plant: inScripts(['acquire'], { operands: { not_after: NEVER } }),
    on: 'one Redis',
    brokenSentences: [
      [cancellation, 'an acquire that arrives after'],
      [cancellation, 'a place that is asked for after'],
    ],
  },
  'a renewal that resurrects a missing key': {
    plant: inScripts(['extend'], {
      commands: {
        'GET lock': `if not right(...) then redis.call('SET', lock, holder, 'PX', ttl) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [
      [ownership, 'an extension brings no lease back'],
      [ownership, 'an extension brings no released lease'],
      [loss, 'a lease that the server lost'],
    ],
  },
  'a renewal of another’s lease': {
    plant: inScripts(['extend'], { commands: { 'GET lock': `return right(...) and holder` } }),
    on: 'one Redis',
    brokenSentences: [
      [ownership, 'a stranger cannot extend'],
      [loss, 'a lease that another has'],
    ],
  },
  'a renewal that shortens': {
    plant: inScripts(['extend'], { commands: { 'PTTL lock': `return 0` } }),
    on: 'one Redis',
    brokenSentences: [[extension, 'an extension never shortens']],
  },
  'a renewal that one bad key stops': {
    plant: inScripts(['extend'], { commands: { 'GET lock': `return redis.call(...)` } }),
    on: 'one Redis',
    brokenSentences: [[extension, 'what cannot be extended']],
  },
  'PUBLISH before the write': {
    plant: inScripts(['release'], {
      commands: {
        'DEL lock': NOTHING,
        'SET lock': LATER,
        'ZREM queue': LATER,
        PUBLISH: `local told = right(...) for _, write in ipairs(kept) do redis.call(unpack(write)) end return told`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[handOffOnRedis, 'a hand-off under memory pressure']],
  },
  'a push to the process that reads the reply': {
    plant: inScripts(['release'], { functions: { process_of: `function() end` } }),
    on: 'one Redis',
    brokenSentences: [[handOffOnRedis, 'a waiter of the releasing process']],
  },
  'a release that lets the publisher’s missing rights stop it': {
    plant: inScripts(['release'], { commands: { PUBLISH: `return redis.call(...)` } }),
    on: 'one Redis',
    brokenSentences: [[handOffOnRedis, 'a waiter whose holder may not publish']],
  },
  'a release without hand-off': {
    plant: inScripts(['release'], { commands: { 'EXISTS queue': `return 0` } }),
    on: 'one Redis',
    brokenSentences: [
      [handOff, 'a release with a waiter never frees'],
      [handOff, 'the heir sends nothing'],
      [order, 'waiters of several processes'],
    ],
  },
  'a first lease of a full ttl': {
    plant: inScripts(['release', 'leave', 'force'], {
      commands: { 'ZRANGE queue': FIRST_TTL, 'SET lock': FULL_LEASE },
    }),
    on: 'one Redis',
    brokenSentences: [[handOff, 'a first lease is not longer']],
  },
  'a waiter that cannot hear is forgotten': {
    plant: inScripts(['release', 'leave', 'force'], { commands: { 'ZADD queue': NOTHING } }),
    on: 'one Redis',
    brokenSentences: [[handOff, 'a waiter that cannot hear']],
  },
  'a waiter that cannot hear gets the lock all the same': {
    plant: inScripts(GRANTING, { commands: { PUBLISH: `right(...) return 1` } }),
    on: 'one Redis',
    brokenSentences: [
      [handOff, 'a waiter that cannot hear'],
      [handOff, 'a lock that nobody hears of'],
      [runs, 'a process that dies'],
    ],
  },
  'a place taken up again without an end': {
    plant: inScripts(['release', 'leave', 'force'], { commands: { 'PEXPIRE queue': NOTHING } }),
    on: 'one Redis',
    brokenSentences: [[cancellation, 'every key has an end']],
  },
  'a leave that forgets a grant': {
    plant: inScripts(['leave'], { commands: { 'GET lock': ANOTHERS } }),
    on: 'one Redis',
    brokenSentences: [
      [cancellation, 'who leaves when the lock was granted'],
      [cancellation, 'the last to leave'],
    ],
  },
  'a leave that stays in the queue': {
    plant: inScripts(['leave'], { functions: { leave_queue: `function() return 0 end` } }),
    on: 'one Redis',
    brokenSentences: [
      [cancellation, 'who left the queue'],
      [cancellation, 'an aborted wait'],
    ],
  },
  'a caller who gives up and keeps the lock for a minimum hold': {
    plant: {
      wrap: (store) => withSteps(store, { leave: (request) => store.release(request, 20_000) }),
    },
    on: 'memory',
    brokenSentences: [[cancellation, 'what was granted to a caller that had given up']],
  },
  'a caller who gives up without leaving': {
    plant: { wrap: (store) => withSteps(store, { leave: async () => false }) },
    on: 'memory',
    brokenSentences: [
      [cancellation, 'an aborted wait'],
      [cancellation, 'a wait that is over'],
      [cancellation, 'a lock that is granted to nobody'],
      [limits, 'a queue that is full refuses'],
      [runs, 'who gives up before its turn'],
      [runs, 'while one stays'],
      [runs, 'those behind a lease that is lost'],
      [runs, 'a process that shuts down'],
    ],
  },
  'a grant that ignores the order of the queue': {
    plant: inScripts(GRANTING, {
      commands: { 'ZRANGE queue': `return right('ZREVRANGE', about, select(3, ...))` },
    }),
    on: 'one Redis',
    brokenSentences: [
      [order, 'waiters of several processes'],
      [order, 'under contention grants follow'],
      [runs, 'who stands between'],
      [runs, 'fenced and unfenced'],
      [runs, 'who comes later'],
    ],
  },
  'a newcomer who passes the queue': {
    plant: inScripts(['acquire'], { commands: { 'ZCARD queue': `return 0` } }),
    on: 'one Redis',
    brokenSentences: [
      [order, 'a newcomer does not pass'],
      [order, 'who asks once does not pass'],
    ],
  },
  'a place that moves when it is asked for again': {
    plant: inScripts(['acquire'], {
      functions: {
        join_queue: `function(place, process, arrival, ...) redis.call('ZREM', queue, place) return right(place, process, nil, ...) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [
      [order, 'asking again does not move'],
      [idempotence, 'who asks twice has one place'],
    ],
  },
  'a new queue that is taken for one that lasts': {
    plant: inScripts(['acquire'], {
      functions: {
        keep_waiting: `function(process, now, new) if not new then right(process, now) end end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[cancellation, 'every key has an end']],
  },
  'dead places that are never removed': {
    plant: inScripts(GRANTING, { functions: { lives: `function(process) return process end` } }),
    on: 'one Redis',
    brokenSentences: [
      [deadWaiters, 'who was not seen'],
      [deadWaiters, 'a lock whose waiters are all dead'],
    ],
  },
  'living places that are removed': {
    plant: inScripts(GRANTING, {
      functions: { lives: `function(process, now) return right(process, now + 1000000) end` },
    }),
    on: 'one Redis',
    brokenSentences: [[deadWaiters, 'who was seen within']],
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
    on: 'memory',
    brokenSentences: [[extension, 'a renewal that fails is tried again']],
  },
  'no watchdog': {
    plant: { wrap: (store) => withSteps(store, { extend: () => new Promise(() => {}) }) },
    on: 'memory',
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
  'loss by timer only': {
    plant: inHeldLock('held', () => ({
      get(this: HeldLock) {
        return this.state === 'held';
      },
    })),
    on: 'memory',
    brokenSentences: [
      [loss, 'at its deadline a lease is lost'],
      [loss, 'a machine that slept'],
      [expiry, 'a deadline leaves room'],
      [runs, 'a lease that is over'],
    ],
  },
  'loss that is told to nobody': {
    plant: inHeldLock('lose', () => ({
      value(this: HeldLock) {
        this['phase'] = 'lost';
      },
    })),
    on: 'memory',
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
  'an operator’s way that tells nobody': {
    plant: inScripts(['force'], {
      commands: { PUBLISH: `if string.match(select(3, ...), '^forced') then return 0 end` },
    }),
    on: 'one Redis',
    brokenSentences: [[ownership, 'who lost the lock to an operator']],
  },
  'a line that passes on for ever': {
    plant: { wrap: endlessTurn },
    on: 'memory',
    brokenSentences: [
      [localHandOff, 'two hot processes'],
      [localHandOff, 'a hot process whose sections take no time'],
      [localHandOff, 'fenced and unfenced callers'],
    ],
  },
  'a run that leaps over another process’ place': {
    plant: inScripts(GRANTING, { functions: { run_behind: LEAPING } }),
    on: 'one Redis',
    brokenSentences: [[runs, 'who stands between them']],
  },
  'a run without a token for each in it': {
    plant: inScripts(GRANTING, {
      functions: { mint_fencing_tokens: `function(fence, now) return right(fence, now, 1) end` },
    }),
    on: 'one Redis',
    brokenSentences: [[runs, 'neighbours of one process']],
  },
  'places that stay in the queue when they have had their turns': {
    plant: inScripts(['release'], { operands: { served: `''` } }),
    on: 'one Redis',
    brokenSentences: [[runs, 'neighbours of one process']],
  },
  'a run of which the store never hears': {
    plant: secretRun,
    on: 'memory',
    brokenSentences: [
      [runs, 'neighbours of one process'],
      [runs, 'who awaits a condition'],
      [runs, 'while one stays'],
    ],
  },
  'a run through places that may still be granted': {
    plant: hastyRun,
    on: 'memory',
    brokenSentences: [[runs, 'a place whose ask got lost']],
  },
  'a run that nothing ends': {
    plant: endlessSlice,
    on: 'memory',
    brokenSentences: [[runs, 'a run is over after its slice']],
  },
  'an heir that keeps its predecessor’s token': {
    plant: sameToken,
    on: 'memory',
    brokenSentences: [
      [localHandOff, 'tokens grow from caller'],
      [localHandOff, 'tokens grow although the server'],
      [localHandOff, 'no two leases overlap'],
      [runs, 'neighbours of one process'],
    ],
  },
  'an heir that stays longer than its lease': {
    plant: inHeldLock('successor', (successor) => ({
      value(this: HeldLock, call: CallSettings, successors: Successors) {
        return Object.assign(successor.call(this, call, successors), {
          remaining: 10 * this.remaining,
        });
      },
    })),
    on: 'memory',
    brokenSentences: [[localHandOff, 'a lease is passed on with no more time than is left']],
  },
  'an heir whose lease is as long as a new one': {
    plant: inHeldLock('successor', (successor) => ({
      value(this: HeldLock, call: CallSettings, successors: Successors) {
        const clock = this['clock'];
        return Object.assign(successor.call(this, call, successors), {
          sent: momentOf(clock),
          remaining: call.ttl,
        });
      },
    })),
    on: 'memory',
    brokenSentences: [[runs, 'a lease that is passed on ends no later']],
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
    on: 'memory',
    brokenSentences: [
      [localHandOff, 'a hot process whose sections take no time'],
      [localHandOff, 'who wants a much shorter lease'],
      [localHandOff, 'each of 5,000 waiters'],
    ],
  },
  'a line that forgets its waiters when the lease is lost': {
    plant: inLocalQueue('ended', (ended) => ({
      value(this: LocalQueue, heldLock: HeldLock) {
        if (heldLock.state === 'lost') this['context'].slices.delete(this);
        else ended.call(this, heldLock);
      },
    })),
    on: 'memory',
    brokenSentences: [[localHandOff, 'who loses the lock to an operator']],
  },
  'a place left behind by the last waiter': {
    plant: { wrap: (store) => withSteps(store, { leave: async () => false }) },
    on: 'memory',
    brokenSentences: [[localHandOff, 'the last waiter that leaves']],
  },
  'readers who come in beside a writer': {
    plant: inShares(['acquire'], {
      functions: {
        fits: `function(current, kind, ...) return kind == 's' or right(current, kind, ...) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'a writer excludes readers']],
  },
  'a writer who comes in beside readers': {
    plant: inScripts(['acquire'], { commands: { 'SET lock': UNCONDITIONALLY } }),
    on: 'one Redis',
    brokenSentences: [
      [sharedMode, 'readers hold together'],
      [sharedMode, 'readers and writers of several processes'],
    ],
  },
  'a reader who passes a waiting writer': {
    plant: inShares(['acquire'], { functions: { nobody_waits: `function() return true end` } }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'a reader that comes later']],
  },
  'readers who come in one by one': {
    plant: inScripts(['release'], {
      functions: { fits: `function(current, ...) return not current and right(current, ...) end` },
    }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'readers that wait next to each other']],
  },
  'a marker that ends with its first reader': {
    plant: inShares(['acquire', 'release'], {
      commands: { 'ZRANGE holders': `return right(said, about, 0, 0, 'WITHSCORES')` },
    }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'each reader has its own end']],
  },
  'a lease of a reader that is over and still counts': {
    plant: inShares(['extend', 'release'], { commands: { 'ZSCORE holders': NOT_OVER } }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'who is no reader any more']],
  },
  'readers of a flushed server who come back to life': {
    plant: inShares(['extend'], {
      commands: {
        'ZSCORE holders': `return redis.call('TIME')[1] * 1000 + 1000`,
        'ZADD holders': `return right(said, about, select(4, ...))`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'readers that were flushed away']],
  },
  'a downgrade that frees the lock': {
    plant: inScripts(['downgrade'], {
      functions: { hold: `function() redis.call('DEL', lock) return false end` },
    }),
    on: 'one Redis',
    brokenSentences: [[sharedMode, 'a writer becomes a reader']],
  },
  'permits that nobody counts': {
    plant: both(
      inShares(['acquire', 'release'], { functions: { fits: UNCOUNTED } }),
      inScripts(['acquire'], { functions: { fits: UNCOUNTED } }),
    ),
    on: 'one Redis',
    brokenSentences: [
      [permits, 'no more hold than there are'],
      [permits, 'five permits are held'],
      [permits, 'where two disagree'],
    ],
  },
  'permits of which one is counted': {
    plant: inShares(['acquire', 'release'], {
      functions: {
        hold: `function(holder, kind, lease, _, ...) return right(holder, kind, lease, 1, ...) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[permits, 'who wants several permits']],
  },
  'permits that are counted by the members of their leases': {
    plant: inShares(['acquire'], {
      functions: {
        has_room: `function(permits, count, now) return redis.call('ZCARD', holders) + count <= tonumber(permits) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[permits, 'as many permits are taken']],
  },
  'a lease of which one member is removed': {
    plant: inShares(['release'], {
      functions: {
        let_go: `function(holder, count, marker, now)
          redis.call('ZREM', holders, member_of(holder, count))
          return settle_holders(marker, now)
        end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[permits, 'as many permits are taken']],
  },
  'a permit that is given back twice': {
    plant: inShares(['release'], {
      commands: { 'ZSCORE holders': `return '9e12'` },
      functions: {
        let_go: `function(_, _, marker, now) redis.call('ZPOPMIN', holders) return settle_holders(marker, now) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[permits, 'permits that come back twice']],
  },
  'what the last holder left is removed although the next came in': {
    plant: inShares(['acquire', 'leave', 'release'], {
      functions: {
        hold: `function(holder, kind, lease, count, current, now)
          local left_behind = vacated
          local stands = right(holder, kind, lease, count, current, now)
          vacated = current and left_behind or vacated
          return stands
        end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[permitsOnRedis, 'who comes in behind a place']],
  },
  'a token anew for who asks again': {
    plant: inShares(['acquire'], { commands: { 'ZSCORE seen': `return false` } }),
    on: 'one Redis',
    brokenSentences: [[permits, 'who asks again has the same token']],
  },
  'one name with and without permits': {
    plant: both(
      inScripts(['acquire'], { functions: { standing: `function() return false end` } }),
      inShares(['acquire'], { functions: { standing: `function() return false end` } }),
    ),
    on: 'one Redis',
    brokenSentences: [[permits, 'a name is used either with']],
  },
  'a wait that begins in two steps': {
    plant: inConditions(['await'], { commands: { 'ZADD queue': NOTHING } }),
    on: 'one Redis',
    brokenSentences: [
      [conditions, 'who awaits sends nothing'],
      [conditions, 'waiters wake in the order'],
    ],
  },
  'a wait by who does not hold the lock': {
    plant: inConditions(['await'], {
      commands: { 'GET lock': `if #kept == 0 then kept[1] = 'asked' return former end` },
    }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'who does not hold the lock cannot signal']],
  },
  'a signal by who does not hold the lock': {
    plant: inConditions(['signal'], { commands: { 'GET lock': `return holder` } }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'who does not hold the lock cannot signal']],
  },
  'a signal that wakes another condition': {
    plant: inConditions(['await', 'signal'], { operands: { condition: `'any'` } }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'a condition is told apart']],
  },
  'signals that go to the last who came': {
    plant: inConditions(['signal'], {
      commands: {
        'ZRANGEBYSCORE queue': `local first, last = select(3, ...) return right('ZREVRANGEBYSCORE', about, last, first, select(5, ...))`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'waiters wake in the order']],
  },
  'a signal that dies with who got it': {
    plant: inScripts(GRANTING, { functions: { pass_signal_on: `function() return false end` } }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'a waiter that dies when it was signalled']],
  },
  'a signal that leaves with who got it': {
    plant: inConditions(['leave'], {
      functions: { pass_signal_on: `function() return false end` },
    }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'who gives up holds nothing']],
  },
  'those who await, counted with those who wait': {
    plant: inScripts(['acquire'], { commands: { 'ZCOUNT queue': `return right('ZCARD', about)` } }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'as many await as may']],
  },
  'no cap for who awaits': {
    plant: inConditions(['await'], { operands: { limit: NEVER } }),
    on: 'one Redis',
    brokenSentences: [
      [conditions, 'as many await as may'],
      [conditions, 'who is one too many to await'],
    ],
  },
  'a cap for who was signalled': {
    plant: inConditions(['ask'], {
      functions: {
        join_queue: `function(place, process, arrival, _, ...) return right(place, process, arrival, 2, ...) end`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'as many await as may']],
  },
  'a grant to who awaits': {
    plant: inScripts(GRANTING, {
      commands: {
        'ZRANGE queue': `local found = right(...) for nth, place in ipairs(found) do found[nth] = string.gsub(place, '/w', '/x') end return found`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'others lock as ever']],
  },
  'a lock that is busy while somebody awaits': {
    plant: inScripts(['acquire'], {
      functions: { nobody_waits: `function() return redis.call('EXISTS', queue) == 0 end` },
    }),
    on: 'one Redis',
    brokenSentences: [[conditions, 'others lock as ever']],
  },
  'a stamp that does not look for holders': {
    plant: inScripts(['stamp'], { commands: { 'GET lock': `return false` } }),
    on: 'one Redis',
    brokenSentences: [[optimistic, 'a stamp that was taken while']],
  },
  'a stamp of a lock without a version': {
    plant: inScripts(['stamp'], { functions: { mint_fencing_tokens: `function() return 1 end` } }),
    on: 'one Redis',
    brokenSentences: [[optimistic, 'a server that lost everything']],
  },
  'a stamp that asks only whether somebody holds the lock now': {
    plant: {
      wrap: (store) =>
        withSteps(store, {
          stamp: async (key) => ((await store.stamp(key)) === undefined ? undefined : 1),
        }),
    },
    on: 'memory',
    brokenSentences: [
      [optimistic, 'a stamp does not validate while'],
      [optimistic, 'a stamp does not validate after'],
      [optimistic, 'of many readers beside writers'],
    ],
  },
  'a transfer by anybody': {
    plant: inScripts(['transfer'], { commands: { 'GET lock': `return right(...) and holder` } }),
    on: 'one Redis',
    brokenSentences: [
      [handOver, 'of many who restore it'],
      [handOver, 'a transfer that arrives twice'],
    ],
  },
  'no answer for a repeated transfer': {
    plant: inScripts(['transfer'], {
      commands: {
        'GET lock': `local current = right(...) return current == holder and holder or current and 'another'`,
      },
    }),
    on: 'one Redis',
    brokenSentences: [
      [handOver, 'who does not hear that it restored it'],
      [handOver, 'a transfer that arrives twice'],
    ],
  },
  'a transfer after its caller’s patience': {
    plant: inScripts(['transfer'], { operands: { not_after: NEVER } }),
    on: 'one Redis',
    brokenSentences: [[handOver, 'a transfer that arrives too late']],
  },
  'a transfer that shortens a lease': {
    plant: inScripts(['transfer'], { commands: { 'PTTL lock': `return 0` } }),
    on: 'one Redis',
    brokenSentences: [
      [handOver, 'the time that it is on its way'],
      [handOver, 'a transfer that arrives twice'],
    ],
  },
  'a giver who does not hear that its lease is over': {
    plant: inHeldLock('lose', (lose) => ({
      value(this: HeldLock, reason: LossReason) {
        if (reason !== 'transferred') lose.call(this, reason);
      },
    })),
    on: 'memory',
    brokenSentences: [[handOver, 'it is over where it was given away']],
  },
  'a minimum hold that is not kept': {
    plant: inScripts(['release'], { operands: { keep: `nil` } }),
    on: 'one Redis',
    brokenSentences: [
      [mutualExclusion, 'a lock in its minimum hold'],
      [expiry, 'a minimum hold outlives'],
    ],
  },
  'a shutdown does not wait for what is held': {
    plant: inHeldLocks('idle', () => ({ value: () => Promise.resolve() })),
    on: 'memory',
    brokenSentences: [
      [shutdown, 'what is held is renewed until it is given back'],
      [shutdown, 'a lease that is just being given back'],
      [shutdownOfLocks, 'who holds a lock enters it again'],
    ],
  },
  'a shutdown waits for ever': {
    plant: inHeldLocks('idle', () => ({ value: () => new Promise(() => {}) })),
    on: 'memory',
    brokenSentences: [[shutdown, 'what is held is renewed until it is given back']],
  },
  'a shutdown leaves its holders what they hold': {
    plant: inHeldLocks('releaseAll', () => ({ value: () => [] })),
    on: 'memory',
    brokenSentences: [
      [shutdown, 'what is left when the grace is over'],
      [shutdown, 'without a grace'],
      [shutdownOfLocks, 'several locks of one lease'],
      [shutdownOfHandOvers, 'a hand-over that comes to nothing'],
    ],
  },
};

const running = new Map<string, Topology>();
beforeAll(async () => {
  for (const name of ['one Redis', 'memory']) running.set(name, await topologies[name]!());
});
afterAll(() => Promise.all([...running.values()].map((topology) => topology.stop())));

describe.each(Object.entries(faults))('%s', (_name, { plant, on, brokenSentences }) => {
  const broken = brokenSentences.map(([contract, beginning]) => sentence(contract, beginning));
  it.each(broken)('breaks "%s"', async (_sentence, check) => {
    expect(await failure(check, on)).toBeUndefined();
    const found = await failure(check, on, plant);
    if (!isBrokenPromise(found)) throw new Error(`It holds all the same, but ${String(found)}`);
  });
});

function sentence(contract: Contract, beginning: string): [string, Check] {
  const found = Object.entries(contract).filter(([text]) => text.startsWith(beginning));
  if (found.length !== 1) throw new Error(`${found.length} sentences begin with "${beginning}".`);
  return found[0]!;
}

/** What the check says of the library with the mistake in it; undefined if it finds nothing. */
async function failure(check: Check, on: string, plant: Plant = {}): Promise<unknown> {
  const undo = plant.sow?.();
  const world = await running.get(on)!.world(kinds['lock']!, plant.wrap);
  if (plant.sow || plant.wrap) world.patience = SHORT_PATIENCE;
  try {
    await check(world);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    undo?.();
    await world.close().catch(() => {});
  }
}

/** An expectation that was not met, not a mistake that only breaks a script. */
function isBrokenPromise(found: unknown): boolean {
  if (!(found instanceof Error)) return false;
  if (found.message.startsWith('expect(')) return true;
  if ('code' in found) return ['LOCK_NOT_ACQUIRED', 'LEASE_LOST'].includes(String(found.code));
  return /history is wrong|has no end|did not happen|was not free|was no queue/.test(found.message);
}
