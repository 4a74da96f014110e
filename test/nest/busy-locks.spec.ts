import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, SetMetadata, type Type } from '@nestjs/common';
import {
  type Lease,
  Locked,
  LockNotAcquiredError,
  LockOptionsError,
  type LockService,
} from '../../lib/index.js';
import { useBench } from '../support/nest-app.js';
import { calls, Imports } from './busy-imports.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe('a method whose lock another holds', () => {
  let imports: Imports;
  let lease: Lease;
  beforeAll(async () => {
    imports = (await bench.app({ providers: [Imports] }, { wait: Infinity })).get(Imports);
  });
  beforeEach(async () => {
    imports.runs = 0;
    lease = await rival.acquire('import:1');
  });
  afterEach(() => lease.release());

  it('throws, and says how long it waited', async () => {
    const error: unknown = await imports.thrown('1').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockNotAcquiredError);
    expect(error).toMatchObject({ code: 'LOCK_NOT_ACQUIRED', key: 'import:1', waited: 0 });
    expect(imports.runs).toBe(0);
    expect((await rival.inspect('import:1')).waiting).toBe(0);
  });

  it('is skipped without waiting under onBusy skip, also where its wait is undefined', async () => {
    expect(await imports.skipped(0, '1')).toBeUndefined();
    expect(await imports.skippedUnset('1')).toBeUndefined();
    expect(imports.runs).toBe(0);
  });

  it('is skipped after the wait that stands beside', async () => {
    const since = performance.now();
    expect(await imports.skippedLate('1')).toBeUndefined();
    expect(performance.now() - since).toBeGreaterThanOrEqual(48);
    expect(imports.runs).toBe(0);
  });

  it('is skipped at once where more wait than it says', async () => {
    const first = imports.skippedInCrowd('1');
    expect(await imports.skippedInCrowd('1')).toBeUndefined();
    expect(imports.runs).toBe(0);
    await lease.release();
    await first;
    expect(imports.runs).toBe(1);
  });

  it('runs after all if the lock comes free in that wait', async () => {
    const late = imports.skippedLate('1');
    await lease.release();
    await late;
    expect(imports.runs).toBe(1);
  });

  it('answers what a function says, which knows the key and the arguments', async () => {
    calls.length = 0;
    expect(await imports.replaced('1')).toBe('instead');
    expect(await imports.replacedLater('1')).toBe('later');
    await expect(imports.refused('1')).rejects.toThrow(new RangeError('come back'));
    expect(calls).toEqual([{ key: 'import:1', args: ['1'] }]);
    expect(imports.runs).toBe(0);
  });

  it('takes only its own lock for busy, not one inside its body', async () => {
    const inside = new LockNotAcquiredError('another lock', 7);
    await expect(imports.replaced('2', inside)).rejects.toBe(inside);
    await expect(imports.skipped(0, 'failing')).rejects.toThrow('another lock');
    expect(imports.runs).toBe(2);
  });
});

describe('skipping is refused at start-up', () => {
  const refusal = "has onBusy: 'skip'";

  it.each([
    [
      'on a route, below it',
      () => {
        @Controller()
        class Routes {
          @Get()
          @Locked('a', { onBusy: 'skip' })
          async get(): Promise<void> {}
        }
        return { controllers: [Routes] };
      },
    ],
    [
      'on a route, above it',
      () => {
        @Controller()
        class Routes {
          @Locked('a', { onBusy: 'skip' })
          @Get()
          async get(): Promise<void> {}
        }
        return { controllers: [Routes] };
      },
    ],
    [
      'on a message handler',
      () => {
        @Controller()
        class Messages {
          @Locked('a', { onBusy: 'skip' })
          @SetMetadata('microservices:pattern', ['created'])
          async created(): Promise<void> {}
        }
        return { controllers: [Messages] };
      },
    ],
    [
      'on the process method of a BullMQ processor',
      () => {
        @SetMetadata('bullmq:processor_metadata', { name: 'mails' })
        @Injectable()
        class Mails {
          @Locked('a', { onBusy: 'skip' })
          async process(): Promise<void> {}
        }
        return { providers: [Mails] };
      },
    ],
    [
      'on a process method of a Bull processor',
      () => {
        @SetMetadata('bull:module_queue', { name: 'mails' })
        @Injectable()
        class Mails {
          @SetMetadata('bull:module_queue_process', { name: 'send' })
          @Locked('a', { onBusy: 'skip' })
          async send(): Promise<void> {}
        }
        return { providers: [Mails] };
      },
    ],
    ...['graphql:resolve_property', 'graphql:resolve_reference'].map(
      (resolves): [string, () => { providers: Type<object>[] }] => [
        `on a resolver of ${resolves}`,
        () => {
          @Injectable()
          class Accounts {
            @SetMetadata(resolves, true)
            @Locked('a', { onBusy: 'skip' })
            async balance(): Promise<void> {}
          }
          return { providers: [Accounts] };
        },
      ],
    ),
  ])('%s', async (_, parts) => {
    const starting = bench.app(parts());
    await expect(starting).rejects.toThrow(LockOptionsError);
    await expect(starting).rejects.toThrow(refusal);
  });

  it('but not beside such a method', async () => {
    @SetMetadata('bullmq:processor_metadata', { name: 'mails' })
    @Injectable()
    class Mails {
      async process(): Promise<void> {}

      @Locked('a', { onBusy: 'skip' })
      async nightly(): Promise<void> {}
    }
    await bench.app({ providers: [Mails] });
  });
});
