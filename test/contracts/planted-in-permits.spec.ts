import { both, inScripts, inShares } from '../support/plant.js';
import { planted } from '../support/planted.js';
import { permits } from './permits.contract.js';
import { sharedMode } from './shared-mode.contract.js';

// In Lua.
const UNCOUNTED = `function(current, kind, permits, ...) return right(current, kind, 1000, ...) end`;
/** One that has not come, whatever it says. */
const NOT_OVER = `return right(...) and redis.call('TIME')[1] * 1000 + 1000`;

/** What the scripts of readers and of permits do wrongly. */
planted('one Redis', {
  'readers who come in beside a writer': {
    plant: inShares(['acquire'], {
      functions: {
        fits: `function(current, kind, ...) return kind == 's' or right(current, kind, ...) end`,
      },
    }),
    brokenSentences: [[sharedMode, 'a writer excludes readers']],
  },
  'a reader who passes a waiting writer': {
    plant: inShares(['acquire'], { functions: { nobody_waits: `function() return true end` } }),
    brokenSentences: [[sharedMode, 'a reader that comes later']],
  },
  'a marker that ends with its first reader': {
    plant: inShares(['acquire', 'release'], {
      commands: { 'ZRANGE holders': `return right(said, about, 0, 0, 'WITHSCORES')` },
    }),
    brokenSentences: [[sharedMode, 'each reader has its own end']],
  },
  'a lease of a reader that is over and still counts': {
    plant: inShares(['extend', 'release'], { commands: { 'ZSCORE holders': NOT_OVER } }),
    brokenSentences: [[sharedMode, 'who is no reader any more']],
  },
  'readers of a flushed server who come back to life': {
    plant: inShares(['extend'], {
      functions: {
        extend_share: `function(lock, holders, marker, holder, ...)
          if redis.call('GET', lock) == marker then redis.call('ZADD', holders, 9e12, holder) end
          return right(lock, holders, marker, holder, ...)
        end`,
      },
    }),
    brokenSentences: [[sharedMode, 'readers that were flushed away']],
  },
  'permits that nobody counts': {
    plant: both(
      inShares(['acquire', 'release'], { functions: { fits: UNCOUNTED } }),
      inScripts(['acquire'], { functions: { fits: UNCOUNTED } }),
    ),
    brokenSentences: [
      [permits, 'no more hold than there are'],
      [permits, 'five permits are held'],
      [permits, 'where two disagree'],
    ],
  },
  'permits of which one is counted': {
    plant: inShares(['acquire', 'release'], {
      functions: {
        add_holder: `function(holder, kind, lease, _, ...) return right(holder, kind, lease, 1, ...) end`,
      },
    }),
    brokenSentences: [[permits, 'who wants several permits']],
  },
  'permits that are counted by the members of their leases': {
    plant: inShares(['acquire'], {
      functions: {
        has_room: `function(permits, count, now) return redis.call('ZCARD', holders) + count <= tonumber(permits) end`,
      },
    }),
    brokenSentences: [[permits, 'as many permits are taken']],
  },
  'a lease of which one member is removed': {
    plant: inShares(['release'], {
      functions: {
        remove_holder: `function(holder, count, marker, now)
          redis.call('ZREM', holders, member_of(holder, count))
          return refresh_marker(marker, now)
        end`,
      },
    }),
    brokenSentences: [[permits, 'as many permits are taken']],
  },
  'a permit that is given back twice': {
    plant: inShares(['release'], {
      commands: { 'ZSCORE holders': `return '9e12'` },
      functions: {
        remove_holder: `function(_, _, marker, now) redis.call('ZPOPMIN', holders) return refresh_marker(marker, now) end`,
      },
    }),
    brokenSentences: [[permits, 'permits that come back twice']],
  },
  'a token anew for who asks again': {
    plant: inShares(['acquire'], { commands: { 'ZSCORE seen': `return false` } }),
    brokenSentences: [[permits, 'who asks again has the same token']],
  },
  'one name with and without permits': {
    plant: both(
      inScripts(['acquire'], { functions: { standing: `function() return false end` } }),
      inShares(['acquire'], { functions: { standing: `function() return false end` } }),
    ),
    brokenSentences: [[permits, 'a name is used either with']],
  },
});
