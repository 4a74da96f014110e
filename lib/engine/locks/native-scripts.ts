import { MergedScript, LuaScript, CachedScript, named } from '../redis/index.js';
import ask from './condition/ask.lua.js';
import awaiting from './condition/await.lua.js';
import leaveCondition from './condition/leave.lua.js';
import signal from './condition/signal.lua.js';
import acquire from './lock/acquire.lua.js';
import acquireFree from './lock/acquire-free.lua.js';
import downgrade from './lock/downgrade.lua.js';
import extend from './lock/extend.lua.js';
import force from './lock/force.lua.js';
import inspect from './lock/inspect.lua.js';
import leave from './lock/leave.lua.js';
import release from './lock/release.lua.js';
import releaseFree from './lock/release-free.lua.js';
import stamp from './lock/stamp.lua.js';
import transfer from './lock/transfer.lua.js';
import acquireShare from './shares/acquire.lua.js';
import extendShares from './shares/extend.lua.js';
import releaseShare from './shares/release.lua.js';
import type { LockRequest } from './lock-request.js';

/** The steps of an exclusive lock, and those of an operator. */
export const exclusive = named('lock', {
  acquire: new LuaScript(acquire, 'batchable'),
  acquireFree: new MergedScript(acquireFree),
  release: new LuaScript(release, 'batchable'),
  releaseFree: new MergedScript(releaseFree),
  leave,
  extend: new CachedScript(extend),
  inspect,
  downgrade,
  force,
  stamp,
  transfer,
});

/** The steps of a lock that readers share, and of a semaphore, whose holders have permits. */
export const shares = named('shares', {
  acquire: new LuaScript(acquireShare, 'batchable'),
  release: new LuaScript(releaseShare, 'batchable'),
  leave: exclusive.leave,
  extend: new CachedScript(extendShares),
});

/** The steps of a caller that awaits a condition of a lock, and of one that signals it. */
export const conditions = named('condition', {
  await: awaiting,
  ask,
  leave: leaveCondition,
  signal,
});

/** The steps for the kind of lock that a request names. */
export function scriptsOf({ share }: Pick<LockRequest, 'share'>): typeof shares {
  return share ? shares : exclusive;
}

/** Every step of native locks. */
export const nativeScripts: readonly LuaScript[] = [exclusive, shares, conditions].flatMap(
  (steps) => Object.values<LuaScript>(steps),
);
