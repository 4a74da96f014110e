import { Injectable } from '@nestjs/common';
import { CurrentLease, Lease, Locked, lockKey, LockKey } from '../../lib/index.js';

/** A decorator of another library that hides the method's source, as `@Transactional` does. */
export const Hidden: MethodDecorator = (_target, _method, descriptor) => {
  const original = descriptor.value as unknown as (...args: unknown[]) => unknown;
  descriptor.value = function (this: unknown, ...args: unknown[]) {
    return original.apply(this, args);
  } as never;
};

interface Dto {
  owner: { id: unknown; tags?: string[] };
}

/** Methods with every form of key: each answers with the key it was locked under. */
@Injectable()
export class Keys {
  #secret = 'secret';

  @Locked('nightly-import')
  async literal(@CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('a:<id>:<other>')
  async named(id: unknown, other: unknown, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('doc:<dto.owner.id>')
  async path(dto: Dto | undefined, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('doc:<dto.owner.tags.1>')
  async element(dto: Dto, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('position:<1>:<0.owner.id>')
  async position(_dto: Dto, _id: number, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('fn:<id>')
  async defaults(
    when = new Date(Math.max(1, Math.min(3, 4))), // a default with commas, and a comment (id
    /* id, */ label = ')',
    id = 'none',
    @CurrentLease() lease?: Lease,
  ): Promise<string> {
    return `${when.getTime()}${label}${id} ${lease!.key}`;
  }

  @Locked('fn:<id>:<city>:<second>:<kept>')
  async destructured(
    { id, address: { city } }: { id: string; address: { city: string } },
    [, second]: string[],
    { old: kept = 'x' }: { old?: string } = {},
    @CurrentLease() lease?: Lease,
  ): Promise<string> {
    return `${id}${city}${second}${kept} ${lease!.key}`;
  }

  @Locked('rest:<ids.1>')
  async rest(first: string, ...ids: string[]): Promise<string> {
    return `${first}${ids.join('')}`;
  }

  @Locked('rest:<id>:<city>')
  async parts(_first: string, ...[id, { city }]: [string, { city: string }]): Promise<string> {
    return `${id}${city}`;
  }

  @Locked('private:<id>')
  async privately(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${this.#secret} ${lease!.key}`;
  }

  @Locked('marked:<id>')
  async marked(_: unknown, @LockKey('id') e: string, @CurrentLease() l?: Lease): Promise<string> {
    return `${e} ${l!.key}`;
  }

  @Locked('hidden:<id>')
  @Hidden
  async hidden(@LockKey('id') id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return `${id} ${lease!.key}`;
  }

  @Locked('hidden:<0>')
  @Hidden
  async hiddenPosition(_id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked((id: string, dto?: Dto) => lockKey`fn:${id}:${String(dto?.owner.id)}`)
  async computed(_id: string, _dto?: Dto, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('queue:<job.id>')
  async consumed(job: { id?: string }): Promise<void> {
    delete job.id;
  }

  @Locked(() => ({}) as string)
  async wrong(): Promise<string> {
    return 'ran';
  }

  @Locked(() => {
    throw new RangeError('no tenant');
  })
  async failing(): Promise<string> {
    return 'ran';
  }

  @Locked('tenant:{<id>}:jobs')
  async hashTag(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    return lease!.key;
  }

  @Locked('symbol:<id>')
  async [Symbol.for('work')](id: string): Promise<string> {
    return id;
  }
}
