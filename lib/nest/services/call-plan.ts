import type { LockClient } from '../../engine/client/lock-client.js';
import { UNNAMED } from '../../engine/events/index.js';
import { refuseInVain } from '../../engine/locks/preconditions.js';
import {
  type CallSettings,
  callSettings,
  checkedLabel,
  checkPolicy,
  LENIENT_DEFAULTS,
  type LockedOptions,
  type LockedPolicy,
  POLICY_OPTIONS,
} from '../../engine/options/index.js';
import { LockService } from './lock.service.js';

/** The settings of a decorator's calls on one service, computed before the first call. */
export interface CallPlan {
  readonly client: LockClient;
  readonly maxKeyBytes: number;
  readonly call: CallSettings;
  readonly policy: LockedPolicy;
}

/** The plans of one decorator: its options are read and checked once for each service, not for each call. */
export class CallPlans {
  readonly options: LockedOptions;
  readonly #plans = new WeakMap<LockService, CallPlan>();

  /**
   * @param label whose calls they are: a text, or a function of each call's arguments
   * @throws LockOptionsError for options that are wrong on every module.
   */
  constructor(
    options: LockedOptions,
    private readonly name: string | undefined,
    private readonly label: string | ((...args: never[]) => string | undefined) | undefined,
  ) {
    this.options = { ...options };
    checkPolicy(this.options);
    this.#settingsOver(LENIENT_DEFAULTS);
  }

  /** @throws LockOptionsError for a stand-in of a service, or for options that contradict its module's. */
  on(service: LockService): CallPlan {
    let plan = this.#plans.get(service);
    if (!plan) {
      const { client, settings } = LockService.internals(service);
      const call = this.#settingsOver(settings.call);
      refuseInVain(call.name ?? UNNAMED, call, settings);
      plan = { client, maxKeyBytes: settings.limits.keyBytes, call, policy: this.options };
      this.#plans.set(service, plan);
    }
    return plan;
  }

  /**
   * The plan of one call, which says whose it is, if a function tells that.
   * @throws LockOptionsError for what is no label.
   */
  labelled(plan: CallPlan, args: readonly unknown[], instance?: object): CallPlan {
    if (typeof this.label !== 'function') return plan;
    const label: unknown = this.label.apply(instance, args as never[]);
    if (label === undefined) return plan;
    return { ...plan, call: { ...plan.call, label: checkedLabel(label) } };
  }

  #settingsOver(defaults: CallSettings): CallSettings {
    const { options, name } = this;
    const label = typeof this.label === 'function' ? undefined : this.label;
    const own = options.onBusy === 'skip' ? { ...defaults, wait: 0 } : defaults;
    return callSettings({ ...options, name, label }, own, POLICY_OPTIONS);
  }
}
