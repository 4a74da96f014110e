import type { HeldLease } from '../../lib/engine/client/leases/held-lease.js';
import type { LeaseRegistry } from '../../lib/engine/client/leases/lease-registry.js';
import type { LocalQueue } from '../../lib/engine/client/queue/local-queue.js';
import { QueueEntry } from '../../lib/engine/client/queue/queue-entry.js';
import type { Grant } from '../../lib/engine/locks/lock-store.js';
import {
  both,
  GRANTING,
  inConditions,
  inHeldLease,
  inPrototype,
  inRegistry,
  inLocalQueue,
  inScripts,
  inShares,
  type Plant,
} from '../support/plant.js';
import type { Play } from './player.js';

const AS_ANYBODY = `function(current, kind, permits, ...) return right(current, kind, 1000, ...) end`;

/** A lock that is held is taken as if it were free. */
const HELD_AS_FREE = {
  'EXISTS lock': `return 0`,
  'SET lock': `return right(said, about, (select(3, ...)), 'PX', ttl)`,
};

const ALWAYS_FREE = both(
  inScripts(['acquireFree'], { commands: HELD_AS_FREE }),
  inScripts(['acquire'], { commands: { 'EXISTS lock': `return 0` } }),
);

/** Who hands over is found there still. */
const RESTORED_TWICE = inScripts(['transfer'], {
  commands: { 'GET lock': `return right(...) and holder` },
});

export interface Planted {
  readonly plant: Plant;
  /** The beginning of what the check says then. */
  readonly found: RegExp;
  /** The ways to lock that meet it most. */
  readonly ways?: Play['ways'];
  readonly strokes?: readonly string[];
}

/** Mistakes by which each check of a history is seen to fail. */
export const plants = {
  'a lock that is held is granted': {
    plant: ALWAYS_FREE,
    found: /^overlap: /,
  },
  'a reader comes in beside a writer': {
    plant: inShares(['acquire'], {
      functions: {
        fits: `function(current, kind, ...) return kind == 's' or right(current, kind, ...) end`,
      },
    }),
    found: /^overlap: /,
    ways: { shared: 1, exclusive: 1 },
  },
  'nobody counts permits': {
    plant: both(
      inShares(['acquire', 'release'], { functions: { fits: AS_ANYBODY } }),
      inScripts(['acquire'], { functions: { fits: AS_ANYBODY } }),
    ),
    found: /^overlap: /,
    ways: { permits: 2, exclusive: 1 },
  },
  'tokens go down': {
    plant: inScripts([...GRANTING, 'acquireFree'], {
      functions: {
        mint_fencing_tokens: `function(_, now, count) return 2e15 - now % 1e12, count end`,
      },
    }),
    found: /^token: /,
  },
  'a lock is granted twice under one token': {
    plant: both(
      inScripts(['acquireFree'], {
        commands: HELD_AS_FREE,
        functions: { mint_fencing_tokens: `function(_, _, count) return 2e15, count end` },
      }),
      inScripts(['acquire'], {
        commands: { 'EXISTS lock': `return 0` },
        functions: { mint_fencing_tokens: `function(_, _, count) return 2e15, count end` },
      }),
    ),
    found: /^guarded write: /,
  },
  'who waits leaves a key without an end': {
    plant: both(
      inScripts(['acquire'], { commands: { 'PEXPIRE seen': `return 1` } }),
      inShares(['acquire'], { commands: { 'PEXPIRE seen': `return 1` } }),
    ),
    found: /^no end: /,
  },
  'the last who came is served first': {
    plant: inScripts(GRANTING, {
      commands: { 'ZRANGE queue': `return right('ZREVRANGE', about, select(3, ...))` },
    }),
    found: /^order: /,
  },
  'a reader passes those who wait': {
    plant: inShares(['acquire'], {
      functions: { nobody_waits: `function() return kind == 's' or right() end` },
    }),
    found: /^order: .*reader/,
    ways: { exclusive: 1, shared: 1 },
  },
  'the last who asked for permits is served first': {
    plant: inShares(['acquire', 'release'], {
      commands: { 'ZRANGE queue': `return right('ZREVRANGE', about, select(3, ...))` },
    }),
    found: /^order: /,
    ways: { permits: 1 },
  },
  'a stamp looks for no holder': {
    plant: inScripts(['stamp'], { commands: { 'GET lock': `return false` } }),
    found: /^stamp: /,
    ways: { exclusive: 1, optimistic: 3 },
  },
  'two restore one lease': {
    plant: RESTORED_TWICE,
    found: /^hand-over: /,
    ways: { handOver: 1, restore: 3 },
  },
  'two work under one lease that they restored': {
    plant: RESTORED_TWICE,
    found: /^overlap: .*, restored .*, restored /,
    ways: { handOver: 1, restore: 3 },
  },
  'a lock that is held is granted, under a token of nobody': {
    plant: both(
      ALWAYS_FREE,
      inLocalQueue('granted', (right) => ({
        value(this: LocalQueue, entry: QueueEntry, grant: Grant) {
          right.call(this, entry, { ...grant, fencingToken: grant.fencingToken! + 0.5 });
        },
      })),
    ),
    found: /^overlap: .*unknown .*unknown /,
    ways: { exclusive: 1 },
  },
  'who awaits wakes without a signal': {
    plant: inConditions(['signal'], { operands: { most: `'1000'` } }),
    found: /^condition: /,
    ways: { condition: 1 },
  },
  'a signal finds nobody': {
    plant: inConditions(['signal'], {
      functions: { signal_next: `function() return 0, false end` },
    }),
    found: /^lost signal: .* found nobody/,
    ways: { condition: 1 },
  },
  'a signal wakes nobody': {
    plant: inConditions(['signal'], {
      functions: { signal_next: `function() return 1, false end` },
    }),
    found: /^lost signal: .* did not wake/,
    ways: { condition: 1 },
  },
  'the store refuses a step': {
    plant: inConditions(['signal'], { functions: { signal_next: `function() error('no') end` } }),
    found: /^failure: condition /,
    ways: { condition: 1 },
  },
  'a lease is not renewed': {
    plant: inHeldLease('renewed', () => ({ value() {} })),
    found: /^failure: long .* its time ran out/,
    ways: { long: 1, shared: 1 },
  },
  'who waits gives up too soon': {
    plant: inLocalQueue('join', (right) => ({
      value(this: LocalQueue, ...[call, ...rest]: Parameters<LocalQueue['join']>) {
        return right.call(this, { ...call, wait: call.wait / 20 }, ...rest);
      },
    })),
    found: /^trouble: acquire .* was given up after /,
    ways: { exclusive: 1 },
  },
  'a release never settles': {
    plant: inRegistry('release', (right) => {
      let nth = 0;
      return {
        value(this: LeaseRegistry, lock: HeldLease) {
          const released = right.call(this, lock);
          return (nth += 1) % 25 === 0 ? new Promise(() => {}) : released;
        },
      };
    }),
    found: /^never settled: release/,
  },
  'a grant leaves something for good': {
    plant: inScripts(['acquireFree'], {
      commands: { 'SET lock': `redis.call('SET', lock .. ':stray', 1, 'PX', 600000)` },
    }),
    found: /^left behind: /,
  },
  'who gave up stays in the queue': {
    plant: inPrototype(QueueEntry.prototype, 'leave', () => ({
      value(this: QueueEntry) {
        this.end();
      },
    })),
    found: /^failed: .* each lock/,
    strokes: ['none'],
  },
} as const satisfies Record<string, Planted>;

export type PlantName = keyof typeof plants;

/** Puts a mistake into the library, in this process, for good. */
export function plant(name: PlantName): void {
  plants[name].plant.sow!();
}
