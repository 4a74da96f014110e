// Methods of every kind under @Locked, compiled by each toolchain and run as a process: prints which lock each one took.
import 'reflect-metadata';
import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type * as rxjs from 'rxjs';
import { CurrentLease, type Lease, Locked, LockKey, LockService } from 'nest-redis-lock';
import { LockTestingModule } from 'nest-redis-lock/testing';
import { firstValueFrom, isObservable, Observable, of } from 'rxjs';

interface Worker {
  work(...args: never[]): unknown;
}

/** The key of the lock in which the code runs. */
let current: () => string;

/** Each class with the key that a call of its method must lock; some decorators refuse, so each is made for itself. */
const CASES: Record<string, () => [Type<Worker>, string, ...string[]]> = {
  position() {
    class Position {
      @Locked('account:<0>')
      async work(a: string, @CurrentLease() lease?: Lease) {
        return [a, lease!.key];
      }
    }
    return [Position, 'account:1', '1'];
  },
  marked() {
    class Marked {
      @Locked('account:<e>')
      async work(b: string, @LockKey('e') a: string, @CurrentLease() lease?: Lease) {
        return [a, b, lease!.key];
      }
    }
    return [Marked, 'account:2', '1', '2'];
  },
  computed() {
    class Computed {
      @Locked((_a: string, b: string) => `account:${b}`)
      async work(a: string, b: string, @CurrentLease() lease?: Lease) {
        return [a, b, lease!.key];
      }
    }
    return [Computed, 'account:2', '1', '2'];
  },
  word() {
    class Word {
      @Locked('account:<account>')
      async work(entry: string, account: string, @CurrentLease() lease?: Lease) {
        return [entry, account, lease!.key];
      }
    }
    return [Word, 'account:2', '1', '2'];
  },
  id() {
    class Id {
      @Locked('account:<id>')
      async work(id: string, @CurrentLease() l?: Lease) {
        return [id, l!.key];
      }
    }
    return [Id, 'account:1', '1'];
  },
  onlyId() {
    class OnlyId {
      @Locked('account:<id>')
      async work(id: string) {
        return [id, current()];
      }
    }
    return [OnlyId, 'account:1', '1'];
  },
  letter() {
    class Letter {
      @Locked('account:<e>')
      async work(first: string, e: string, @CurrentLease() lease?: Lease) {
        return [first, e, lease!.key];
      }
    }
    return [Letter, 'account:2', '1', '2'];
  },
  otherLetter() {
    class OtherLetter {
      @Locked('account:<t>')
      async work(t: string, e: string, second: string, @CurrentLease() lease?: Lease) {
        return [t, e, second, lease!.key];
      }
    }
    return [OtherLetter, 'account:1', '1', '2', '3'];
  },
  lonelyLetter() {
    class LonelyLetter {
      @Locked('account:<e>')
      async work(a: string, e: string, @CurrentLease() l?: Lease) {
        return [a, e, l!.key];
      }
    }
    return [LonelyLetter, 'account:2', '1', '2'];
  },
  forwarded() {
    class Forwarded {
      @Locked('forwarded')
      work(@CurrentLease() lease?: Lease): Promise<string[]> {
        return Promise.resolve([lease!.key]);
      }
    }
    return [Forwarded, 'forwarded'];
  },
  forwardedSaid() {
    class ForwardedSaid {
      @Locked('forwarded', { returns: 'promise' })
      work(@CurrentLease() lease?: Lease): Promise<string[]> {
        return Promise.resolve([lease!.key]);
      }
    }
    return [ForwardedSaid, 'forwarded'];
  },
  observable() {
    class Prices {
      @Locked('prices')
      work(@CurrentLease() lease?: Lease): Observable<string[]> {
        return of([lease!.key]);
      }
    }
    return [Prices, 'prices'];
  },
  observableHidden() {
    class Hidden {
      @Locked('hidden')
      work(@CurrentLease() lease?: Lease): rxjs.Observable<string[]> {
        return of([lease!.key]);
      }
    }
    return [Hidden, 'hidden'];
  },
  observableSaid() {
    class PricesSaid {
      @Locked('prices', { returns: 'observable' })
      work(@CurrentLease() lease?: Lease) {
        return of([lease!.key]);
      }
    }
    return [PricesSaid, 'prices'];
  },
  rows() {
    class Rows {
      @Locked('rows')
      async *work(@CurrentLease() lease?: Lease) {
        yield [lease!.key];
      }
    }
    return [Rows, 'rows'];
  },
  rowsSaid() {
    class RowsSaid {
      @Locked('rows', { returns: 'iterable' })
      work(@CurrentLease() lease?: Lease): AsyncIterable<string[]> {
        return (async function* () {
          yield [lease!.key];
        })();
      }
    }
    return [RowsSaid, 'rows'];
  },
};

/** What a call returned, whichever way: its last entry is the key of the lock that it held. */
async function first(result: unknown): Promise<string[]> {
  if (isObservable(result)) return firstValueFrom(result as Observable<string[]>);
  if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result) {
    for await (const row of result as AsyncIterable<string[]>) return row;
  }
  return (await result) as string[];
}

async function outcome(name: string): Promise<string> {
  let made;
  try {
    made = CASES[name]!();
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
  const [type, key, ...args] = made;
  @Module({ imports: [LockTestingModule.forRoot()], providers: [type] })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  current = () => app.get(LockService).current()!.key;
  try {
    const held = (await first(app.get(type).work(...(args as never[])))).at(-1);
    return held === key ? 'right' : `WRONG: ${held} instead of ${key}`;
  } catch (error) {
    // Somebody who expects a stream awaits no Promise: nobody handles that this one rejects.
    void app.get(type).work(...(args as never[]));
    await app.get(LockService).withLock(key, () => new Promise((resolve) => setImmediate(resolve)));
    return `at the call: ${(error as Error).message}`;
  } finally {
    await app.close();
  }
}

/** What became of each method, by name. */
export async function outcomes(): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  for (const name of Object.keys(CASES)) said[name] = await outcome(name);
  return said;
}
