import { GRANTING, inConditions, inScripts } from '../support/plant.js';
import { planted } from '../support/planted.js';
import { conditions } from './conditions.contract.js';

// In Lua.
const NEVER = `'9000000000000000'`;
const NOTHING = `return 0`;

/** What the scripts do wrongly with those who await a condition. */
planted('one Redis', {
  'a wait that begins in two steps': {
    plant: inConditions(['await'], { commands: { 'ZADD queue': NOTHING } }),
    brokenSentences: [
      [conditions, 'who awaits sends nothing'],
      [conditions, 'waiters wake in the order'],
    ],
  },
  'a wait by who does not hold the lock': {
    plant: inConditions(['await'], {
      commands: { 'GET lock': `if #kept == 0 then kept[1] = 'asked' return former end` },
    }),
    brokenSentences: [[conditions, 'who does not hold the lock cannot signal']],
  },
  'a signal by who does not hold the lock': {
    plant: inConditions(['signal'], { commands: { 'GET lock': `return holder` } }),
    brokenSentences: [[conditions, 'who does not hold the lock cannot signal']],
  },
  'a signal that wakes another condition': {
    plant: inConditions(['await', 'signal'], { operands: { condition: `'any'` } }),
    brokenSentences: [[conditions, 'a condition is told apart']],
  },
  'signals that go to the last who came': {
    plant: inConditions(['signal'], {
      commands: {
        'ZRANGEBYSCORE queue': `local first, last = select(3, ...) return right('ZREVRANGEBYSCORE', about, last, first, select(5, ...))`,
      },
    }),
    brokenSentences: [[conditions, 'waiters wake in the order']],
  },
  'a signal that dies with who got it': {
    plant: inScripts(GRANTING, { functions: { pass_signal_on: `function() return false end` } }),
    brokenSentences: [[conditions, 'a waiter that dies when it was signalled']],
  },
  'a signal that leaves with who got it': {
    plant: inConditions(['leave'], {
      functions: { pass_signal_on: `function() return false end` },
    }),
    brokenSentences: [[conditions, 'who gives up holds nothing']],
  },
  'those who await, counted with those who wait': {
    plant: inScripts(['acquire'], { commands: { 'ZCOUNT queue': `return right('ZCARD', about)` } }),
    brokenSentences: [[conditions, 'as many await as may']],
  },
  'no cap for who awaits': {
    plant: inConditions(['await'], { operands: { limit: NEVER } }),
    brokenSentences: [
      [conditions, 'as many await as may'],
      [conditions, 'who is one too many to await'],
    ],
  },
  'a cap for who was signalled': {
    plant: inConditions(['ask'], {
      functions: {
        join_queue: `function(entry, process, arrival, _, ...) return right(entry, process, arrival, 2, ...) end`,
      },
    }),
    brokenSentences: [[conditions, 'as many await as may']],
  },
  'a grant to who awaits': {
    plant: inScripts(GRANTING, {
      commands: {
        'ZRANGE queue': `local found = right(...) for nth, entry in ipairs(found) do found[nth] = string.gsub(entry, '/w', '/x') end return found`,
      },
    }),
    brokenSentences: [[conditions, 'others lock as ever']],
  },
  'a lock that is busy while somebody awaits': {
    plant: inScripts(['acquire'], {
      functions: { nobody_waits: `function() return redis.call('EXISTS', queue) == 0 end` },
    }),
    brokenSentences: [[conditions, 'others lock as ever']],
  },
});
