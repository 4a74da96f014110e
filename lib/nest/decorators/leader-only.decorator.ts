import { LockOptionsError } from '../../engine/errors/index.js';
import { lockName } from '../../engine/keys/index.js';
import {
  callSettings,
  checkPolicy,
  LENIENT_DEFAULTS,
  type LockedPolicy,
  refuseOthers,
} from '../../engine/options/index.js';
import { Candidates } from '../services/candidate.js';
import type { ElectionOptions } from '../services/election.js';
import { lazyKind } from '../services/locked-call.js';
import { addLast } from '../services/metadata.js';
import { checkedFor, decoratedMethod, nameOf, wrapMethod } from './decorated-method.js';
import { injectService } from './injected-service.js';
import type { LockedDecorator, Skippable } from './locked-types.js';
import { argumentsWith, leaseParameters } from './parameters.js';
import { returnKind } from '../services/return-kind.js';

/** The options of `@LeaderOnly`. */
export interface LeaderOnlyOptions
  extends Omit<ElectionOptions, 'label'>, Pick<LockedPolicy, 'onLost'> {
  /** The `name` of the RedisLockModule to use. Default: the module without a name. */
  readonly module?: string | undefined;
}

/** Metadata for the start-up check: each `@LeaderOnly` on a method, innermost first. */
export const LEADER_ONLY_METADATA = Symbol('nest-redis-lock:leader-only');
export type LeaderOnlyMetadata = LeaderOnlyOptions & { readonly election: string };

/**
 * Runs the method on the replica that leads the election `name`; every other replica returns undefined at once, without asking
 * Redis. Each replica campaigns from its start-up on, and again after each loss. A replica that shuts down resigns, so that the
 * next leads at once; when a leader dies, another leads within `ttl` and 1 s.
 *
 * The method runs inside the leader's lease: `@CurrentLease` has its fencing token and its signal, which aborts when this
 * replica is deposed. Calls on the leader may overlap; `@Locked` beside the decorator keeps them apart. It is for methods of
 * providers that return `Promise<void>`, jobs above all. Routes and queue processors are refused at start-up, for a skipped
 * call would count as done.
 * @example `@LeaderOnly('reports') @Cron('0 6 * * *') async report(): Promise<void> {}`
 * @throws LockOptionsError where the decorator stands, when the name or an option cannot work. The method rejects with
 * `LeaseLostError` if it succeeded after the lead was lost or given back (`onLost: 'ignore'` keeps its result).
 * @publicApi
 */
export function LeaderOnly(
  name: string,
  options: LeaderOnlyOptions = {},
): LockedDecorator<unknown[], Skippable> {
  const { ttl, onLost, module, ...others } = options;
  return (target: object, method: string | symbol, descriptor: PropertyDescriptor) => {
    const methodName = nameOf(target, method);
    const original = decoratedMethod('@LeaderOnly', target, method, descriptor);
    lockName(name);
    checkedFor(`@LeaderOnly on ${methodName}`, () => {
      checkPolicy({ onLost, module });
      const known = 'Options: ttl, onLost, module.';
      refuseOthers(others, (other) => `There is no option "${other}". ${known}`);
      callSettings({ ttl }, LENIENT_DEFAULTS);
    });
    const streams = (): LockOptionsError =>
      new LockOptionsError(
        `@LeaderOnly stands on ${methodName}, which streams: it fits methods that return a Promise.`,
      );
    if ((returnKind(target, method, original)?.kind ?? 'promise') !== 'promise') throw streams();
    const leaseAt = leaseParameters(target, method);
    const serviceOf = injectService(target, module, methodName);
    const wrapper = async function (this: object, ...args: unknown[]): Promise<unknown> {
      const candidate = Candidates.of(serviceOf(this)).get(name, { ttl });
      return candidate.lead(async (lease) => {
        const result = await original.apply(this, argumentsWith(args, leaseAt, lease));
        if (lazyKind(result)) throw streams();
        return result;
      }, onLost);
    };
    wrapMethod(original as never, wrapper as never);
    const metadata = { ...options, election: name };
    addLast<LeaderOnlyMetadata>(LEADER_ONLY_METADATA, metadata, wrapper);
    descriptor.value = wrapper;
  };
}
