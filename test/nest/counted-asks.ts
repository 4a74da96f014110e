import { jest } from '@jest/globals';
import { Controller, Get, Injectable } from '@nestjs/common';
import { CurrentLease, type Lease, Locked, LockedRequest } from '../../lib/index.js';

/** How often an option is read. */
let reads = 0;
const options = {
  get ttl(): '20s' {
    reads += 1;
    return '20s';
  },
  get onLost(): 'throw' {
    reads += 1;
    return 'throw';
  },
  get onUnavailable(): 'throw' {
    reads += 1;
    return 'throw';
  },
  get module(): undefined {
    reads += 1;
    return undefined;
  },
};

/** Their options count how often they are read. */
@Injectable()
export class Accounts {
  @Locked('account:<dto.id>:<_word>', options)
  async withdraw(
    dto: { id: string },
    _word: string,
    @CurrentLease() lease?: Lease,
  ): Promise<string> {
    return `${dto.id} under ${lease!.key}`;
  }
}

/** Their options count how often they are read. */
@Controller()
export class Orders {
  @LockedRequest('order', options)
  @Get('order')
  async place(): Promise<string> {
    return 'placed';
  }
}

/** How often anything is asked that is known before a call: options, metadata, the source of a method, the text of a template. */
export async function asksDuring(calls: () => Promise<void>): Promise<Record<string, number>> {
  const spies = {
    metadata: [jest.spyOn(Reflect, 'getMetadata'), jest.spyOn(Reflect, 'getOwnMetadata')],
    source: [jest.spyOn(Function.prototype, 'toString')],
    template: [jest.spyOn(String.prototype, 'matchAll')],
  };
  const before = reads;
  await calls();
  const asks = { options: reads - before };
  const counted = Object.entries(spies).map(([what, several]) => [
    what,
    several.reduce((sum, { mock }) => sum + mock.calls.length, 0),
  ]);
  return { ...asks, ...(Object.fromEntries(counted) as Record<string, number>) };
}
