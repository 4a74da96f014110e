import { both, inScripts, inShares } from '../support/plant.js';
import { planted } from '../support/planted.js';
import { errors } from './errors.contract.js';
import { fencing } from './fencing.contract.js';
import { handOff } from './hand-off.contract.js';
import { order } from './order.contract.js';
import { expiry } from './expiry.contract.js';
import { extension } from './extension.contract.js';
import { handOver } from './hand-over.contract.js';
import { idempotence } from './idempotence.contract.js';
import { loss } from './loss.contract.js';
import { mutualExclusion } from './mutual-exclusion.contract.js';
import { optimistic, optimisticOnRedis } from './optimistic.contract.js';
import { ownership } from './ownership.contract.js';
import { sharedMode } from './shared-mode.contract.js';

// In Lua.
const NEVER = `'9000000000000000'`;
const UNCONDITIONALLY = `return right(said, about, (select(3, ...)), 'PX', ttl)`;
/** What stands there, but never the asker itself. */
const ANOTHERS = `local current = right(...) return current and 'another'`;

/** In place of the holder's own part of its id: whatever stands there. */
const ANYBODY = `(function() holders[i] = holders[i] and before .. id return id end)()`;

/** What the scripts of a lock that one holds alone do wrongly. */
planted('one Redis', {
  'taking a lock that is held': {
    plant: inScripts(['acquire'], { commands: { 'EXISTS lock': `return 0` } }),
    brokenSentences: [
      [mutualExclusion, 'a lock that is held'],
      [mutualExclusion, 'of many who ask once at one'],
      [mutualExclusion, 'no two leases overlap, and no update is lost'],
      [errors, 'a foreign string is contention'],
    ],
  },
  'a short way past those who wait': {
    plant: inScripts(['acquireFree'], { operands: { queue: `lock` } }),
    brokenSentences: [[order, 'a process that was not there before']],
  },
  'a short way that leaves those who wait behind': {
    plant: inScripts(['releaseFree'], { commands: { 'EXISTS queue': `return 0` } }),
    brokenSentences: [[handOff, 'the successor sends nothing']],
  },
  'a short way that no reader sees': {
    plant: inScripts(['acquireFree'], { operands: { version: `lock` } }),
    brokenSentences: [[optimistic, 'a stamp does not validate while']],
  },
  'a short way with one token for ever': {
    plant: inScripts(['acquireFree'], {
      functions: { mint_fencing_tokens: `function(_, _, count) return 1.7e15, count end` },
    }),
    brokenSentences: [[fencing, 'tokens of each lock grow']],
  },
  'a short way to a lock that another has': {
    plant: inScripts(['acquireFree'], {
      commands: { 'EXISTS lock': `return 0`, 'SET lock': UNCONDITIONALLY },
    }),
    brokenSentences: [
      [mutualExclusion, 'a lock that is held'],
      [mutualExclusion, 'of many who ask once for several'],
    ],
  },
  'release without comparing': {
    plant: both(
      inScripts(['release'], { commands: { 'GET lock': `return right(...) and holder` } }),
      inScripts(['releaseFree'], { operands: { id: ANYBODY } }),
    ),
    brokenSentences: [
      [ownership, 'a stranger cannot release'],
      [ownership, 'who held the lock before'],
      [idempotence, 'a release that arrives twice'],
    ],
  },
  'no answer for a repeated acquire': {
    plant: inScripts(['acquire'], { commands: { 'GET lock': ANOTHERS } }),
    brokenSentences: [
      [idempotence, 'an acquire that arrives twice'],
      [idempotence, 'a pushed grant is found again'],
    ],
  },
  'a repeated acquire that mints anew': {
    plant: inScripts(['acquire'], {
      functions: { first_token: `function() return mint_fencing_tokens(fence, now, 1) end` },
    }),
    brokenSentences: [
      [idempotence, 'an acquire that arrives twice'],
      [idempotence, 'a pushed grant is found again'],
    ],
  },
  'a repeated acquire that counts a full ttl': {
    plant: inScripts(['acquire'], { commands: { 'PTTL lock': `return tonumber(ttl)` } }),
    brokenSentences: [[idempotence, 'a repeated acquire answers what is left']],
  },
  'a renewal that resurrects a missing key': {
    plant: inScripts(['extend'], {
      commands: {
        'GET lock': `if not right(...) then redis.call('SET', lock, holder, 'PX', ttl) end`,
      },
    }),
    brokenSentences: [
      [ownership, 'an extension brings no lease back'],
      [ownership, 'an extension brings no released lease'],
      [loss, 'a lease that the server lost'],
    ],
  },
  'a renewal of another’s lease': {
    plant: inScripts(['extend'], { functions: { held_by: `function() return true end` } }),
    brokenSentences: [
      [ownership, 'a stranger cannot extend'],
      [loss, 'a lease that another has'],
    ],
  },
  'a renewal that shortens': {
    plant: inScripts(['extend'], { commands: { 'PEXPIRE lock': `return right(said, lock, ttl)` } }),
    brokenSentences: [[extension, 'an extension never shortens']],
  },
  'a renewal that one bad key stops': {
    plant: inScripts(['extend'], { commands: { 'GET lock': `return redis.call(...)` } }),
    brokenSentences: [[extension, 'what cannot be extended']],
  },
  'a writer who comes in beside readers': {
    plant: inScripts(['acquire'], { commands: { 'EXISTS lock': `return 0` } }),
    brokenSentences: [
      [sharedMode, 'readers hold together'],
      [sharedMode, 'readers and writers of several processes'],
    ],
  },
  'readers who come in one by one': {
    plant: inScripts(['release'], {
      functions: { fits: `function(current, ...) return not current and right(current, ...) end` },
    }),
    brokenSentences: [[sharedMode, 'readers that wait next to each other']],
  },
  'a downgrade that frees the lock': {
    plant: inScripts(['downgrade'], {
      functions: { add_holder: `function() redis.call('DEL', lock) return false, -1, 0 end` },
    }),
    brokenSentences: [[sharedMode, 'a writer becomes a reader']],
  },
  'a downgrade that keeps its token to itself': {
    plant: inScripts(['downgrade'], { commands: { 'SET version': `return false` } }),
    brokenSentences: [[sharedMode, 'readers beside a lease that was exclusive']],
  },
  'readers who each have the last token of all': {
    plant: inShares(['acquire'], { commands: { 'GET version': `return false` } }),
    brokenSentences: [[sharedMode, 'readers have one token']],
  },
  'a writer that leaves the version': {
    plant: inScripts(['acquire'], { commands: { 'DEL version': `return 0` } }),
    brokenSentences: [
      [optimistic, 'a stamp does not validate while somebody holds the lock, nor after'],
      [sharedMode, 'readers have one token'],
    ],
  },
  'a stamp that does not look for holders': {
    plant: inScripts(['stamp'], { commands: { 'GET lock': `return false` } }),
    brokenSentences: [[optimistic, 'a stamp that was taken while']],
  },
  'a stamp that is the same for every lock without a version': {
    plant: inScripts(['stamp'], { functions: { mint_fencing_tokens: `function() return 1 end` } }),
    brokenSentences: [
      [optimistic, 'a server that lost everything'],
      [optimisticOnRedis, 'a version that was evicted hides no writer'],
    ],
  },
  'a transfer by anybody': {
    plant: inScripts(['transfer'], { commands: { 'GET lock': `return right(...) and holder` } }),
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
    brokenSentences: [
      [handOver, 'who does not hear that it restored it'],
      [handOver, 'a transfer that arrives twice'],
    ],
  },
  'a transfer after its caller’s patience': {
    plant: inScripts(['transfer'], { operands: { not_after: NEVER } }),
    brokenSentences: [[handOver, 'a transfer that arrives too late']],
  },
  'a transfer that shortens a lease': {
    plant: inScripts(['transfer'], { commands: { 'PTTL lock': `return 0` } }),
    brokenSentences: [
      [handOver, 'the time that it is on its way'],
      [handOver, 'a transfer that arrives twice'],
    ],
  },
  'a minimum hold that is not kept': {
    plant: inScripts(['release'], { operands: { keep: `nil` } }),
    brokenSentences: [
      [mutualExclusion, 'a lock in its minimum hold'],
      [expiry, 'a minimum hold outlives'],
    ],
  },
});
