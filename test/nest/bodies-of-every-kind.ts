import { expect } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { PassThrough } from 'node:stream';
import { defer, from, type Observable } from 'rxjs';
import { CurrentLease, LeaderOnly, type Lease, Locked, LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';

/** Bodies under every kind of lock, which all stay until `leave` opens. */
@Injectable()
export class Bodies {
  readonly leave = new Gate();
  /** By the names of the bodies. */
  readonly leases = new Map<string, Lease>();
  led = false;

  constructor(readonly locks: LockService) {}

  readonly body = async (name: string, lease: Lease | undefined): Promise<string> => {
    this.leases.set(name, lease!);
    await this.leave.opened;
    return name;
  };

  @Locked('promise')
  promise(@CurrentLease() lease?: Lease): Promise<string> {
    return this.body('promise', lease);
  }

  @Locked('observable', { returns: 'observable' })
  observable(@CurrentLease() lease?: Lease): Observable<string> {
    return defer(() => from(this.body('observable', lease)));
  }

  @Locked('iterable', { returns: 'iterable' })
  async *iterable(@CurrentLease() lease?: Lease): AsyncGenerator<string> {
    yield await this.body('iterable', lease);
  }

  @Locked('stream')
  async stream(@CurrentLease() lease?: Lease): Promise<PassThrough> {
    const stream = new PassThrough();
    void this.body('stream', lease).then((name) => stream.end(name));
    return stream;
  }

  @Locked('shared', { mode: 'shared' })
  shared(@CurrentLease() lease?: Lease): Promise<string> {
    return this.body('shared', lease);
  }

  @Locked('siblings')
  async siblings(@CurrentLease() lease?: Lease): Promise<string> {
    const sibling = (): Promise<string> =>
      this.locks.withLock('siblings', async () => {
        await this.body('siblings', lease);
        expect(this.locks.current('siblings')!.held).toBe(true);
        return 'siblings';
      });
    return (await Promise.all([sibling(), sibling()]))[0];
  }

  @LeaderOnly('leader')
  async leader(@CurrentLease() lease?: Lease): Promise<void> {
    await this.body('leader', lease);
    this.led = true;
  }
}
