// Checked by `tsc`: what must compile, and under each @ts-expect-error what must not.
import { applyDecorators, Get } from '@nestjs/common';
import { Readable } from 'node:stream';
import { Observable, of } from 'rxjs';
import {
  CurrentLease,
  LeaderOnly,
  type Lease,
  Locked,
  LockedRequest,
  lockKey,
  LockKey,
} from '../../lib/index.js';

interface Dto {
  id: string;
}

function refuse() {
  throw new Error('busy');
}

export class MayBeLocked {
  @Locked('a')
  async promise(): Promise<number> {
    return 1;
  }

  @Locked('a:<id>', { ttl: '1.5s', wait: Infinity, minHold: 0, onLost: 'ignore', module: 'x' })
  async named(@LockKey('id') id: string, @CurrentLease() _lease?: Lease): Promise<string> {
    return id;
  }

  @Locked('a')
  observable(): Observable<number> {
    return of(1);
  }

  @Locked('a')
  async *iterable(): AsyncGenerator<number> {
    yield 1;
  }

  @Locked('a')
  async stream(): Promise<Readable> {
    return Readable.from([]);
  }

  @Locked((id: string) => lockKey`a:${id}`)
  async computed(_id: string, _more?: number): Promise<void> {}

  @Locked((dto: Dto, count: number) => lockKey`a:${dto.id}:${count}`)
  async computedOfTwo(_dto: Dto, _count: number): Promise<void> {}

  @Locked(() => 'a')
  async computedOfNone(_id: string): Promise<void> {}

  @Locked('a', { label: 'nightly' })
  async labelled(): Promise<void> {}

  @Locked('a', { label: (id: string) => id })
  async labelledBy(_id: string, _more: number): Promise<void> {}

  @Locked((id: string) => lockKey`a:${id}`, { label: (id) => id, onBusy: 'skip' })
  async labelledByAsTheKey(_id: string): Promise<void> {}

  @Locked('a', { onBusy: 'skip' })
  async skipped(): Promise<void> {}

  @Locked('a', { onBusy: 'skip' })
  async skippedMaybe(): Promise<void | undefined> {}

  @Locked((id: string) => id, { onBusy: 'skip', wait: '1s' })
  async skippedComputed(_id: string): Promise<void> {}

  @Locked('a', { onBusy: 'skip' })
  async skippedOrText(): Promise<string | undefined> {
    return 'a';
  }

  @Locked('a', { onBusy: 'skip' })
  async skippedUnknown(): Promise<unknown> {
    return 'a';
  }

  @Locked('a', { onBusy: ({ key, args }) => key.length + args.length })
  async replaced(): Promise<number> {
    return 1;
  }

  @Locked('a', { onBusy: () => 'busy' })
  async replacedByOneOfTwo(): Promise<'busy' | 'done'> {
    return 'done';
  }

  @Locked((id: string) => id, { wait: 0, onBusy: async () => ({ state: 'busy', tags: ['a'] }) })
  async replacedByObject(_id: string): Promise<{ state: 'busy' | 'done'; tags: string[] }> {
    return { state: 'done', tags: [] };
  }

  @Locked('a', { onBusy: () => null })
  async replacedByNull(): Promise<Dto | null> {
    return null;
  }

  @Locked('a', { onBusy: refuse })
  async refused(): Promise<number> {
    return 1;
  }

  @Locked('a', {
    onBusy: () => {
      throw new Error('busy');
    },
  })
  async refusedInPlace(): Promise<number> {
    return 1;
  }

  @Locked('a', { onBusy: ({ args }) => args[0] })
  async replacedByUnknown(text: string): Promise<string> {
    return text;
  }

  @Locked('a', { onBusy: () => 5 })
  async replacedForNobody(): Promise<void> {}

  @Locked('a', { onBusy: () => of(1) })
  replacedStream(): Observable<number> {
    return of(1);
  }

  @Locked('a', { onBusy: () => 'a' })
  async generic<T>(value: T): Promise<T> {
    return value;
  }

  @LockedRequest('tenant:<user.tenantId>', { wait: 0, onBusy: 'throw' })
  async request(): Promise<void> {}

  @LockedRequest((context) => lockKey`a:${context.getClass().name}`)
  async requestComputed(): Promise<void> {}
}

@LockedRequest('tenant:<user.tenantId>')
export class MayBeLockedAsAWhole {}

/** Decorators of an application's own, made of ours. */
const Accounted = (id: string): MethodDecorator => Locked(`account:${id}`, { wait: 0 });
const Exclusive = (): MethodDecorator => Locked((id: string) => id, { onBusy: 'skip' });
const Answered = (): MethodDecorator => Locked((id: string) => id, { onBusy: () => 5 });
const Alone = (): MethodDecorator => LeaderOnly('a', { ttl: '5s' });
const LockedRoute = (path: string) =>
  applyDecorators(
    Get(path),
    Locked('a:<id>', { ttl: '5s' }),
    Locked((id: string, count: number) => lockKey`b:${id}:${count}`),
    Locked((id: string) => id, { onBusy: 'skip' }),
    LockedRequest('c'),
  );
const Nightly = () => applyDecorators(LeaderOnly('nightly'), Locked('nightly'));

export class MayBeLockedByOwnDecorators {
  @Accounted('<id>')
  async one(id: string): Promise<string> {
    return id;
  }

  @Exclusive()
  async other(_id: string): Promise<void> {}

  @Answered()
  async third(_id: string): Promise<number> {
    return 5;
  }

  @Alone()
  async job(): Promise<void> {}

  @LockedRoute('a')
  async route(_id: string, _count: number): Promise<void> {}

  @Nightly()
  async nightly(): Promise<void> {}

  @applyDecorators(Locked('a'))
  async inPlace(): Promise<void> {}
}

// @ts-expect-error an option is checked there, too
export const UnknownOption = () => applyDecorators(Locked('a', { tll: '1s' }));

/** Has a key function with the object of the method. */
export class MayHaveItsObject {
  readonly prefix = 'a';

  @Locked(function (this: MayHaveItsObject, id: string) {
    return `${this.prefix}:${id}`;
  })
  async keyed(_id: string): Promise<void> {}
}

export class MayNotBeLocked {
  // @ts-expect-error a synchronous method cannot wait for a lock
  @Locked('a')
  synchronous(): number {
    return 1;
  }

  // @ts-expect-error nor one that returns nothing
  @Locked('a')
  nothing(): void {}

  // @ts-expect-error a stream that is returned at once would be a Promise of it
  @Locked('a')
  readable(): Readable {
    return Readable.from([]);
  }

  // @ts-expect-error nor one that is asynchronous only sometimes
  @Locked('a')
  sometimes(): number | Promise<number> {
    return 1;
  }

  // @ts-expect-error a getter is no method
  @Locked('a')
  get value(): Promise<number> {
    return Promise.resolve(1);
  }

  // @ts-expect-error a property is no method
  @Locked('a')
  property = async (): Promise<void> => {};

  // @ts-expect-error the key function takes another type
  @Locked((id: number) => lockKey`a:${id}`)
  async otherType(_id: string): Promise<void> {}

  // @ts-expect-error the function of the label takes another type
  @Locked('a', { label: (id: number) => String(id) })
  async otherLabel(_id: string): Promise<void> {}

  // @ts-expect-error the key function takes more than the method
  @Locked((id: string, other: number) => lockKey`a:${id}:${other}`)
  async otherCount(_id: string): Promise<void> {}

  // @ts-expect-error a key is a string
  @Locked((id: string) => id.length)
  async otherKey(_id: string): Promise<void> {}

  // @ts-expect-error a skipped call has no value to return
  @Locked('a', { onBusy: 'skip' })
  async skippedValue(): Promise<number> {
    return 1;
  }

  // @ts-expect-error a number is no text
  @Locked('a', { onBusy: () => 5 })
  async replacedByNumber(): Promise<string> {
    return 'a';
  }

  // @ts-expect-error nor is a text that comes later a number
  @Locked('a', { onBusy: async () => 'a' })
  async replacedByText(): Promise<number> {
    return 1;
  }

  // @ts-expect-error nor may what is never undefined be so
  @Locked('a', { onBusy: () => undefined })
  async replacedByNothing(): Promise<Dto> {
    return { id: 'a' };
  }

  // @ts-expect-error nor has a skipped Observable
  @Locked('a', { onBusy: 'skip' })
  skippedObservable(): Observable<number> {
    return of(1);
  }

  // @ts-expect-error there is no such option
  @Locked('a', { tll: '1s' })
  async unknownOption(): Promise<void> {}

  // @ts-expect-error a duration has a unit
  @Locked('a', { ttl: '30' })
  async withoutUnit(): Promise<void> {}

  // @ts-expect-error of ms, s, m or h
  @Locked('a', { ttl: '1 day' })
  async withoutOurUnit(): Promise<void> {}

  // @ts-expect-error onBusy is one of two words, or a function
  @Locked('a', { onBusy: 'ignore' })
  async otherWord(): Promise<void> {}

  // @ts-expect-error it needs a key
  @Locked()
  async withoutKey(): Promise<void> {}

  // @ts-expect-error a request that was not handled must not look as if it was
  @LockedRequest('a', { onBusy: 'skip' })
  async skippedRequest(): Promise<void> {}

  // @ts-expect-error also when a function answers instead
  @LockedRequest('a', { onBusy: () => 1 })
  async replacedRequest(): Promise<void> {}

  // @ts-expect-error an interceptor need not be told
  @LockedRequest('a', { returns: 'observable' })
  async toldRequest(): Promise<void> {}
}

/** A mistake is underlined where it is, not at the key or the decorator. */
export class IsBlamedWhereItStands {
  @Locked('a', {
    wait: 0,
    // @ts-expect-error there is no such option
    tll: '1s',
  })
  async unknownOption(): Promise<void> {}

  @Locked((id: string) => id, {
    wait: 0,
    // @ts-expect-error there is no such option
    tll: '1s',
  })
  async unknownOptionBesideFunction(_id: string): Promise<void> {}

  @Locked(['a', 'b'], {
    // @ts-expect-error a duration has a unit
    ttl: '30',
    wait: 0,
  })
  async withoutUnit(): Promise<void> {}

  @Locked('a', {
    wait: 0,
    // @ts-expect-error onBusy is one of two words, or a function
    onBusy: 'ignore',
  })
  async otherWord(): Promise<void> {}

  @Locked('a', {
    onBusy: 'skip',
    // @ts-expect-error a duration has a unit
    wait: 'soon',
  })
  async skipped(): Promise<void> {}

  @Locked('a', {
    onBusy: 'skip',
    // @ts-expect-error there is no such option
    tll: '1s',
  })
  async skippedUnknown(): Promise<void> {}

  @LockedRequest('a', {
    wait: 0,
    // @ts-expect-error there is no such option
    tll: '1s',
  })
  async request(): Promise<void> {}
}

export const MAY_NOT_BE_KEYS: string[] = [
  // @ts-expect-error only values that can stand in a key
  lockKey`a:${{}}`,
  // @ts-expect-error undefined is none
  lockKey`a:${undefined}`,
];

export class MayBeLeaderOnly {
  @LeaderOnly('a')
  async job(): Promise<void> {}

  @LeaderOnly('a', { ttl: '5s', onLost: 'ignore', module: 'x' })
  async other(_count: number, @CurrentLease() _lease?: Lease): Promise<void> {}

  // @ts-expect-error where it is skipped, it has no result
  @LeaderOnly('a')
  async result(): Promise<number> {
    return 1;
  }

  // @ts-expect-error a synchronous method
  @LeaderOnly('a')
  sync(): void {}

  // @ts-expect-error no option of an election
  @LeaderOnly('a', { wait: 1 })
  async wait(): Promise<void> {}
}
