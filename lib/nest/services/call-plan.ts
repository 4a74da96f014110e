import type { LockClient } from '../../engine/client/lock-client.js';
import { UNNAMED } from '../../engine/events/index.js';
import { refuseInVain } from '../../engine/locks/preconditions.js';
import {
  type CallSettings,
  checkedLabel,
  LENIENT_DEFAULTS,
  type LockedPolicy,
} from '../../engine/options/index.js';
import { LockService } from './lock.service.js';

/** The settings of a decorator's calls on one service, computed before the first call. */
export interface CallPlan {
  readonly client: LockClient;
  readonly maxKeyBytes: number;
  readonly call: CallSettings;
  readonly policy: LockedPolicy;
}

/**
 * The plan of one call, which says whose it is; undefined: nobody's.
 * @throws LockOptionsError for what is no label.
 */
export function labelled(plan: CallPlan, label: unknown): CallPlan {
  if (label === undefined) return plan;
  return { ...plan, call: { ...plan.call, label: checkedLabel(label) } };
}

/** The plans of one decorator: its options are read and checked once for each service, not for each call. */
export class CallPlans {
  readonly #plans = new WeakMap<LockService, CallPlan>();
  readonly #policy: LockedPolicy;

  /** @throws LockOptionsError for options that are wrong on every module. */
  constructor(
    private readonly settingsOver: (defaults: CallSettings) => CallSettings,
    { onBusy, onLost, onUnavailable }: LockedPolicy,
  ) {
    this.#policy = { onBusy, onLost, onUnavailable };
    settingsOver(LENIENT_DEFAULTS);
  }

  /** @throws LockOptionsError for a stand-in of a service, or for options that contradict its module's. */
  on(service: LockService): CallPlan {
    let plan = this.#plans.get(service);
    if (!plan) {
      const { client, settings } = LockService.internals(service);
      const call = this.settingsOver(settings.call);
      refuseInVain(call.name ?? UNNAMED, call, settings);
      plan = { client, maxKeyBytes: settings.limits.keyBytes, call, policy: this.#policy };
      this.#plans.set(service, plan);
    }
    return plan;
  }
}
