import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { Observable } from 'rxjs';
import { Locked } from '../../lib/index.js';
import { LockTestingModule, type MemoryServer } from '../../lib/memory/testing/index.js';

export const FAILURE = new RangeError('the handler failed');

/** What the handlers of a test do. */
export const own = {} as {
  handler: () => unknown;
  source: () => Observable<string>;
  iterator: AsyncIterator<string>;
};

/** Its methods do under a lock what `own` says. */
@Injectable()
export class Shop {
  runs = 0;

  @Locked('shop', { wait: 0, onBusy: () => own.handler() })
  async promise(): Promise<unknown> {
    return (this.runs += 1);
  }

  @Locked('shop', { wait: 0, onBusy: () => own.handler() })
  observable(): Observable<unknown> {
    return new Observable(() => void (this.runs += 1));
  }

  @Locked('shop', { wait: 0, onBusy: () => own.handler() })
  async *iterable(): AsyncGenerator<unknown> {
    yield (this.runs += 1);
  }

  @Locked('shop', { returns: 'iterable' })
  rows(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => own.iterator };
  }

  @Locked('shop:above')
  @Locked('shop', { returns: 'iterable' })
  rowsTwice(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => own.iterator };
  }

  @Locked('shop')
  stream(): Observable<string> {
    return own.source();
  }
}

export async function openShop(server: MemoryServer): Promise<TestingModule> {
  const module = await Test.createTestingModule({
    imports: [LockTestingModule.forRoot({ server })],
    providers: [Shop],
  }).compile();
  return module.init();
}
