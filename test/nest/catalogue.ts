import { Injectable } from '@nestjs/common';
import { CurrentLease, Lease, Locked } from '../../lib/index.js';
import { Gate } from '../support/gate.js';

/** A catalogue that is read together and written alone, reports of which three run at a time, and transfers under two keys. */
@Injectable()
export class Catalogue {
  inside = 0;
  most = 0;

  @Locked('catalogue:<_id>', { mode: 'shared', wait: 0 })
  async read(_id: string, entered?: Gate, leave?: Gate): Promise<string> {
    entered?.open();
    await leave?.opened;
    return 'read';
  }

  @Locked('catalogue:<_id>', { wait: 0 })
  async write(_id: string): Promise<string> {
    return 'written';
  }

  @Locked('catalogue:<id>', { mode: 'shared' })
  async readThenWrite(id: string): Promise<string> {
    return this.write(id);
  }

  @Locked('catalogue:<id>')
  async writeThenRead(id: string): Promise<string> {
    return this.read(id);
  }

  @Locked('report:<_tenant>', { permits: 3 })
  async report(_tenant: string): Promise<void> {
    this.inside += 1;
    this.most = Math.max(this.most, this.inside);
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.inside -= 1;
  }

  @Locked(['account:<_from>', 'account:<_to>'])
  async transfer(_from: string, _to: string, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked((from: string, to: string) => [`account:${from}`, `account:${to}`])
  async move(_from: string, _to: string, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }
}
