import { GRANTING, inScripts } from '../support/plant.js';
import { planted } from '../support/planted.js';
import { cancellation } from './cancellation.contract.js';
import { deadWaiters } from './dead-waiters.contract.js';
import { fencing, fencingOnRedis } from './fencing.contract.js';
import { handOff, handOffOnRedis } from './hand-off.contract.js';
import { idempotence } from './idempotence.contract.js';
import { limits } from './limits.contract.js';
import { mutualExclusion } from './mutual-exclusion.contract.js';
import { order } from './order.contract.js';
import { ownership } from './ownership.contract.js';
import { batches } from './batches.contract.js';

// In Lua.
const NEVER = `'9000000000000000'`;
const NOTHING = `return 0`;
/** What stands there, but never the asker itself. */
const ANOTHERS = `local current = right(...) return current and 'another'`;
/** Writes that wait in a list, the last before the others. */
const LATER = `table.insert(kept, 1, { ... }) return 1`;
/** Keeps in mind what lease the first waiter asked for, and gives it to it. */
const FIRST_TTL = `local found = right(...) kept.ttl = string.match(found[1] or '', '/(%d+)/[xc]') return found`;
const FULL_LEASE = `if kept.ttl then return right(said, about, (select(3, ...)), 'PX', kept.ttl) end`;
/** All entries of the process, wherever they are. */
const LEAPING = `function(process, entry, at)
  local own, last = 0, '-'
  for _, other in ipairs(redis.call('ZRANGE', queue, at, at + 63)) do
    if string.match(other, '^[^/]+') == process then own, last = own + 1, redis.call('ZSCORE', queue, other) end
  end
  return own, last
end`;

/** What the scripts do wrongly with those who wait. */
planted('one Redis', {
  'the dead live on where the clock was set back': {
    plant: inScripts(['acquire'], { commands: { 'ZRANGEBYSCORE seen': `return {}` } }),
    brokenSentences: [[deadWaiters, 'who died before the clock was set back']],
  },
  'a fence by INCR only': {
    plant: inScripts([...GRANTING, 'acquireFree'], {
      functions: { mint_fencing_tokens: `function(fence) return redis.call('INCR', fence), 1 end` },
    }),
    brokenSentences: [
      [fencing, 'tokens grow although the server lost everything'],
      [cancellation, 'every key has an end'],
    ],
  },
  'a fence that stands still': {
    plant: inScripts([...GRANTING, 'acquireFree'], {
      functions: {
        mint_fencing_tokens: `function(fence, now) return tonumber(redis.call('GET', fence) or redis.call('SET', fence, now, 'PX', 9999, 'GET') or now), 1 end`,
      },
    }),
    brokenSentences: [
      [fencing, 'tokens grow with every grant'],
      [fencing, 'locks that are asked for at one moment'],
      [mutualExclusion, 'no two leases overlap, and no update is lost'],
    ],
  },
  'a fence that forgets what was reserved': {
    plant: inScripts([...GRANTING, 'acquireFree'], {
      functions: {
        mint_fencing_tokens: `function(fence, now, count) return right(fence, now, 1), count end`,
      },
    }),
    brokenSentences: [[fencing, 'the tokens of each lock grow where several']],
  },
  'blocks of tokens without end': {
    plant: inScripts(['acquire', 'acquireFree'], {
      functions: {
        mint_fencing_tokens: `function(fence, now, count)
          local first = math.max((tonumber(redis.call('GET', fence) or '') or 0) + 1, now)
          redis.call('SET', fence, string.format('%.0f', first + count - 1), 'PX', 90000000)
          return first, count
        end`,
      },
    }),
    brokenSentences: [[fencing, 'tokens lead the clock by 100 ms at most']],
  },
  'numbers written by Lua’s own way': {
    plant: inScripts(GRANTING, {
      functions: {
        int_text: `function(number) return '' .. number end`,
        token_text: `function(token) return '' .. token end`,
      },
    }),
    brokenSentences: [
      [order, 'entries keep their arrival'],
      [fencingOnRedis, 'tokens and arrivals are written'],
    ],
  },
  'a zombie acquire': {
    plant: inScripts(['acquire', 'acquireFree'], { operands: { not_after: NEVER } }),
    brokenSentences: [
      [cancellation, 'an acquire that arrives after'],
      [cancellation, 'an entry that is asked for after'],
    ],
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
    brokenSentences: [[handOffOnRedis, 'a hand-off under memory pressure']],
  },
  'a push to the process that reads the reply': {
    plant: inScripts(['release'], { functions: { process_of: `function() end` } }),
    brokenSentences: [[handOffOnRedis, 'a waiter of the releasing process']],
  },
  'a release that lets the publisher’s missing rights stop it': {
    plant: inScripts(['release'], { commands: { PUBLISH: `return redis.call(...)` } }),
    brokenSentences: [[handOffOnRedis, 'a waiter whose holder may not publish']],
  },
  'a release without hand-off': {
    plant: inScripts(['release'], { commands: { 'EXISTS queue': `return 0` } }),
    brokenSentences: [
      [handOff, 'a release with a waiter never frees'],
      [handOff, 'the successor sends nothing'],
      [order, 'waiters of several processes'],
    ],
  },
  'a first lease of a full ttl': {
    plant: inScripts(['release', 'leave', 'force'], {
      commands: { 'ZRANGE queue': FIRST_TTL, 'SET lock': FULL_LEASE },
    }),
    brokenSentences: [[handOff, 'a first lease is not longer']],
  },
  'a waiter that cannot hear is forgotten': {
    plant: inScripts(['release', 'leave', 'force'], {
      functions: { listens: `function() redis.call('DEL', queue) return false end` },
    }),
    brokenSentences: [[handOff, 'a waiter that cannot hear']],
  },
  'a waiter that cannot hear gets the lock all the same': {
    plant: inScripts(GRANTING, { functions: { listens: `function() return true end` } }),
    brokenSentences: [
      [handOff, 'a waiter that cannot hear'],
      [handOff, 'a lock that nobody hears of'],
      [batches, 'a process that dies'],
    ],
  },
  'a leave that forgets a grant': {
    plant: inScripts(['leave'], { commands: { 'GET lock': ANOTHERS } }),
    brokenSentences: [
      [cancellation, 'who leaves when the lock was granted'],
      [cancellation, 'the last to leave'],
    ],
  },
  'a leave that stays in the queue': {
    plant: inScripts(['leave'], { functions: { leave_queue: `function() return 0 end` } }),
    brokenSentences: [
      [cancellation, 'who left the queue'],
      [cancellation, 'an aborted wait'],
    ],
  },
  'a grant that ignores the order of the queue': {
    plant: inScripts(GRANTING, {
      commands: { 'ZRANGE queue': `return right('ZREVRANGE', about, select(3, ...))` },
    }),
    brokenSentences: [
      [order, 'waiters of several processes'],
      [order, 'under contention grants follow'],
      [batches, 'who stands between'],
      [batches, 'fenced and unfenced'],
      [batches, 'who comes later'],
    ],
  },
  'a newcomer who passes the queue': {
    plant: inScripts(['acquire'], { commands: { 'ZCARD queue': `return 0` } }),
    brokenSentences: [
      [order, 'a newcomer does not pass'],
      [order, 'who asks once does not pass'],
    ],
  },
  'an entry that moves when it is asked for again': {
    plant: inScripts(['acquire'], {
      functions: {
        join_queue: `function(entry, process, arrival, ...) redis.call('ZREM', queue, entry) return right(entry, process, nil, ...) end`,
      },
    }),
    brokenSentences: [
      [order, 'asking again does not move'],
      [idempotence, 'who asks twice has one entry'],
    ],
  },
  'a new queue that is taken for one that lasts': {
    plant: inScripts(['acquire'], {
      functions: {
        keep_waiting: `function(process, now, new) if not new then right(process, now) end end`,
      },
    }),
    brokenSentences: [[cancellation, 'every key has an end']],
  },
  'dead entries that are never removed': {
    plant: inScripts(GRANTING, { functions: { is_alive: `function(process) return process end` } }),
    brokenSentences: [
      [deadWaiters, 'who was not seen'],
      [deadWaiters, 'a lock whose waiters are all dead'],
    ],
  },
  'dead entries that fill the queue while the lock is held': {
    plant: inScripts(['acquire'], { functions: { dead_among: `function() return {} end` } }),
    brokenSentences: [[limits, 'a queue that is full of the dead takes the next, whoever']],
  },
  'living entries that are removed': {
    plant: inScripts(GRANTING, {
      functions: { is_alive: `function(process, now) return right(process, now + 1000000) end` },
    }),
    brokenSentences: [[deadWaiters, 'who was seen within']],
  },
  'an operator’s way that tells nobody': {
    plant: inScripts(['force'], {
      commands: { PUBLISH: `if string.match(select(3, ...), '^forced') then return 0 end` },
    }),
    brokenSentences: [[ownership, 'who lost the lock to an operator']],
  },
  'a batch that leaps over another process’ entry': {
    plant: inScripts(GRANTING, { functions: { batch_behind: LEAPING } }),
    brokenSentences: [[batches, 'who stands between them']],
  },
  'a batch without a token for each in it': {
    plant: inScripts(GRANTING, {
      functions: { mint_fencing_tokens: `function(fence, now) return right(fence, now, 1) end` },
    }),
    brokenSentences: [[batches, 'neighbours of one process']],
  },
  'entries that stay in the queue when they have had their turns': {
    plant: inScripts(['release'], { operands: { served: `''` } }),
    brokenSentences: [[batches, 'neighbours of one process']],
  },
});
