// Prices, whose methods under @Locked return Observables.
import { Injectable } from '@nestjs/common';
import { defer, NEVER, Observable, of } from 'rxjs';
import { CurrentLease, Lease, Locked, LockService } from '../../lib/index.js';
import { Balance } from '../support/balance.js';

export const balance = new Balance();

@Injectable()
export class Prices {
  calls = 0;
  source: Observable<string> = NEVER;

  constructor(readonly locks: LockService) {}

  @Locked('prices:<_of>')
  watch(_of: string): Observable<string> {
    this.calls += 1;
    return this.source;
  }

  @Locked('prices:<of>')
  fails(of: string): Observable<string> {
    throw new TypeError(`no prices of ${of}`);
  }

  @Locked('prices:<_kind>')
  lease(_kind: string, @CurrentLease() lease?: Lease): Observable<unknown> {
    return defer(() => of(lease!.held, this.locks.current()?.key, lease!.key));
  }

  @Locked('prices:<of>')
  add(of: string): Observable<number> {
    return defer(() => balance.add(of.length));
  }

  @Locked('prices:busy', { wait: 0, onBusy: () => 'busy' })
  instead(): Observable<string> {
    return of('ran');
  }

  @Locked('prices:busy', { wait: 0, onBusy: () => of('one', 'two') })
  insteadSeveral(): Observable<string> {
    return of('ran');
  }

  @Locked('prices:busy', { wait: 0 })
  busy(): Observable<string> {
    return of('ran');
  }

  @Locked('prices:hidden')
  hidden(): Visible<string> {
    this.calls += 1;
    return of('ran');
  }

  @Locked('prices:said', { returns: 'observable' })
  said(@CurrentLease() lease?: Lease): Visible<boolean> {
    return defer(() => of(lease!.held));
  }
}

/** A name for Observable that leaves no trace when the program runs. */
type Visible<T> = Promise<T> | Observable<T>;
