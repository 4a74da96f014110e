import { expect, it } from '@jest/globals';
import { Observable } from 'rxjs';
import type { BaseLease } from '../../lib/client/lease.js';
import type { LockClient } from '../../lib/client/lock-client.js';
import { CALL_DEFAULTS } from '../../lib/options/call-options.js';
import { LockedCall } from '../../lib/services/locked-call.js';

it('a lease that comes when its subscriber has left is given back unused, and nothing is subscribed to', async () => {
  let grant!: (lease: BaseLease) => void;
  let signal: AbortSignal | undefined;
  const client = {
    acquire: (_key: unknown, _call: unknown, given: AbortSignal) => {
      signal = given;
      return new Promise<BaseLease>((resolve) => (grant = resolve));
    },
  };
  const call = new LockedCall(client as unknown as LockClient, 'k', CALL_DEFAULTS, {}, []);
  const done: string[] = [];
  const run = (): Observable<unknown> => new Observable(() => void done.push('subscribed'));
  call.observable(run).subscribe().unsubscribe();
  expect(signal!.aborted).toBe(true);
  const release = async (unused?: 'unused'): Promise<boolean> => {
    done.push(`given back ${unused}`);
    return true;
  };
  grant({ release } as unknown as BaseLease);
  await new Promise(setImmediate);
  expect(done).toEqual(['given back unused']);
});

it('a call under several locks names them all', () => {
  const call = new LockedCall({} as LockClient, ['a', 'b'], CALL_DEFAULTS, {}, []);
  expect(call.key).toBe('a, b');
});
