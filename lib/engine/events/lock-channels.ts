import {
  type Channel,
  channel,
  type TracingChannel,
  tracingChannel,
  type TracingChannelSubscribers,
} from 'node:diagnostics_channel';
import type { AcquireTrace, HoldTrace, LockEventMap, LockEventName } from './lock-event.js';

/** A channel of `node:diagnostics_channel`, with the type of what is published on it. */
export interface LockChannel<Event> extends Channel {
  subscribe(listener: (event: Event, channel: string | symbol) => void): void;
  unsubscribe(listener: (event: Event, channel: string | symbol) => void): boolean;
}

/** A tracing channel; a subscriber may take some of its five events. `@types/node` 26 swapped the types of its base. */
export interface LockTracingChannel<Trace extends object> extends TracingChannel<Trace, Trace> {
  subscribe(subscribers: Partial<TracingChannelSubscribers<Trace>>): void;
  unsubscribe(subscribers: Partial<TracingChannelSubscribers<Trace>>): void;
}

/** All channels of this library, in all modules of the process. */
export type LockChannels = {
  /** `tracing:nest-redis-lock:acquire:start` and so on: one call for a lock. */
  readonly acquire: LockTracingChannel<AcquireTrace>;
  /** `tracing:nest-redis-lock:hold:start` and so on: one lock that this process holds. */
  readonly hold: LockTracingChannel<HoldTrace>;
} & { readonly [Name in LockEventName]: LockChannel<LockEventMap[Name][0]> };

const PREFIX = 'nest-redis-lock:';

function plain<Name extends LockEventName>(name: Name): LockChannel<LockEventMap[Name][0]> {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return channel(PREFIX + kebab) as LockChannel<LockEventMap[Name][0]>;
}

/**
 * The channels of `node:diagnostics_channel` on which this library publishes: `lockChannels.lost.subscribe(listener)`. An
 * event's channel has its name in kebab case: `nest-redis-lock:timed-out`. A listener runs inside the step that it hears
 * of. Node.js ends the process with an error that a listener throws.
 */
export const lockChannels: LockChannels = {
  acquire: tracingChannel<unknown, AcquireTrace>(`${PREFIX}acquire`),
  hold: tracingChannel<unknown, HoldTrace>(`${PREFIX}hold`),
  acquired: plain('acquired'),
  contended: plain('contended'),
  timedOut: plain('timedOut'),
  aborted: plain('aborted'),
  failed: plain('failed'),
  refused: plain('refused'),
  skipped: plain('skipped'),
  released: plain('released'),
  lost: plain('lost'),
  renewalFailed: plain('renewalFailed'),
  handedOff: plain('handedOff'),
  elected: plain('elected'),
  deposed: plain('deposed'),
  connected: plain('connected'),
  disconnected: plain('disconnected'),
  replaced: plain('replaced'),
};

type Watched = Pick<Channel, 'hasSubscribers'>;

const { acquire, hold, acquired, contended, timedOut, aborted, failed, refused } = lockChannels;
const { released, handedOff } = lockChannels;
const ofHolds: readonly Watched[] = [hold, released, handedOff];
const ofCalls: readonly Watched[] = [
  acquire,
  acquired,
  contended,
  timedOut,
  aborted,
  failed,
  refused,
  ...ofHolds,
];

/** Whether anybody listens to events that name a lock: of calls, or of what befalls a held one. */
export function someHearNames(): boolean {
  return someHearCalls() || isHeard(lockChannels.lost) || isHeard(lockChannels.renewalFailed);
}

/** Whether anybody listens to calls. Node.js does not tell when somebody subscribes, so each call asks. */
export function someHearCalls(): boolean {
  return ofCalls.some(isHeard);
}

/** Whether anybody listens to holds. */
export function someHearHolds(): boolean {
  return ofHolds.some(isHeard);
}

function isHeard({ hasSubscribers }: Watched): boolean {
  return hasSubscribers;
}
