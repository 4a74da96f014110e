import { HeldLease, type HandOffTarget } from '../../lib/engine/client/leases/held-lease.js';
import { LeaseRegistry } from '../../lib/engine/client/leases/lease-registry.js';
import { LocalQueue } from '../../lib/engine/client/queue/local-queue.js';
import { BUDGET, TimeSlice } from '../../lib/engine/client/queue/time-slice.js';
import { QueueEntry } from '../../lib/engine/client/queue/queue-entry.js';
import { conditions, exclusive, shares } from '../../lib/engine/locks/native-scripts.js';
import type { CallSettings } from '../../lib/engine/options/index.js';
import type { LuaScript } from '../../lib/engine/redis/index.js';
import { type Slip, slipped } from './script-slip.js';
import { type Wrap, withSteps } from './world.js';

type Steps<Names extends string> = Record<Names, LuaScript>;

/** A mistake put into the library for the time of one test. */
export interface Plant {
  /** Makes it; returns how to undo it. */
  readonly sow?: () => () => void;
  readonly wrap?: Wrap;
}

/** The scripts that let in who waits. */
export const GRANTING = ['acquire', 'release', 'leave', 'force'] as const;

/** A slip in each of these scripts. */
export function inScripts(steps: readonly (keyof typeof exclusive)[], slip: Slip): Plant {
  return inSteps(exclusive, steps, slip);
}

/** The same in the scripts of readers and of permits. */
export function inShares(steps: readonly (keyof typeof shares)[], slip: Slip): Plant {
  return inSteps(shares, steps, slip);
}

/** The same in the scripts of conditions. */
export function inConditions(steps: readonly (keyof typeof conditions)[], slip: Slip): Plant {
  return inSteps(conditions, steps, slip);
}

/** Several mistakes that only together are one. */
export function both(...plants: readonly Plant[]): Plant {
  return {
    sow() {
      const undo = plants.map((plant) => plant.sow!());
      return () => undo.reverse().forEach((each) => each()); // each takes back to what it found
    },
  };
}

function inSteps<Names extends string>(
  scripts: Steps<Names>,
  steps: readonly Names[],
  slip: Slip,
): Plant {
  return {
    sow() {
      const originals = { ...scripts };
      for (const step of steps) {
        Object.assign(scripts, { [step]: slipped(step, originals[step], slip) });
      }
      return () => void Object.assign(scripts, originals);
    },
  };
}

/** Another getter or method of a held lease, made of the right one. */
export function inHeldLease<Name extends keyof HeldLease>(
  name: Name,
  mistake: (right: HeldLease[Name]) => PropertyDescriptor,
): Plant {
  return inPrototype(HeldLease.prototype, name, mistake);
}

/** Another method of all that a process holds, made of the right one. */
export function inRegistry<Name extends keyof LeaseRegistry>(
  name: Name,
  mistake: (right: LeaseRegistry[Name]) => PropertyDescriptor,
): Plant {
  return inPrototype(LeaseRegistry.prototype, name, mistake);
}

/** Another method of the queue in which the callers of a process wait for a lock, made of the right one. */
export function inLocalQueue<Name extends keyof LocalQueue>(
  name: Name,
  mistake: (right: LocalQueue[Name]) => PropertyDescriptor,
): Plant {
  return inPrototype(LocalQueue.prototype, name, mistake);
}

/** Another method of a class, made of the right one. */
export function inPrototype<Type, Name extends keyof Type>(
  prototype: Type,
  name: Name,
  mistake: (right: Type[Name]) => PropertyDescriptor,
): Plant {
  return {
    sow() {
      const original = Object.getOwnPropertyDescriptor(prototype, name);
      if (!original) throw new Error(`There is no "${String(name)}" to make a mistake in.`);
      const descriptor = { ...mistake(original.value as Type[Name]), configurable: true };
      Object.defineProperty(prototype, name, descriptor);
      return () => void Object.defineProperty(prototype, name, original);
    },
  };
}

/** A turn that never ends: the step that gives the lease back and queues again keeps it instead. */
export const endlessTurn: Wrap = (store) => {
  const names = new Map<string, string>();
  const known = <T extends { holder: string }>(request: T): T => ({
    ...request,
    holder: names.get(request.holder) ?? request.holder,
  });
  let token = 0;
  return withSteps(store, {
    acquire: async (ask) => {
      if (!ask.former) return store.acquire(known(ask));
      const former = known(ask.former);
      names.set(ask.holder, former.holder);
      const { sent } = await store.extend([former]);
      const tokens = 1 + BUDGET.handOffs;
      token = Math.max(token + tokens, (await store.inspect(ask.key, 1)).fencingToken ?? 0);
      const grant = { sent, remaining: ask.ttl, fencingToken: token, tokens };
      return { kind: 'held', ...grant, gaveBack: true };
    },
    release: (request, keep, served) => store.release(known(request), keep, served),
    leave: (request, served) => store.leave(known(request), served),
    extend: (requests) => store.extend(requests.map(known)),
  });
};

/** A process’ turn that neither time nor number ends. */
export const endlessTimeSlice = inPrototype(TimeSlice.prototype, 'spend', () => ({
  value: () => true,
}));

/** A batch whose entries the store never hears of, though they had their turns. */
export const secretBatch = inPrototype(TimeSlice.prototype, 'takeServed', () => ({
  value: () => {},
}));

/** A batch that goes to entries of which something is still under way. */
export const hastyBatch = inPrototype(QueueEntry.prototype, 'isSettled', () => ({
  get: () => true,
}));

/** Who is passed a lease and takes the token with it. */
export const sameToken = inHeldLease('successor', (successor) => ({
  value(this: HeldLease, call: CallSettings, successors: HandOffTarget) {
    return Object.assign(successor.call(this, call, successors), {
      fencingToken: this.fencingToken,
    });
  },
}));
