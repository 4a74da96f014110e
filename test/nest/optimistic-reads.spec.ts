import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  ForeignLockError,
  Locked,
  LockKeyError,
  LockOptionsError,
  LockService,
} from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { useBench } from '../support/nest-app.js';

const bench = useBench();

@Injectable()
class Points {
  x = 0;
  y = 0;

  constructor(readonly locks: LockService) {}

  @Locked('point')
  async move(halfWay?: Gate, goOn?: Gate): Promise<void> {
    this.x += 1;
    halfWay?.open();
    await goOn?.opened;
    this.y += 1;
  }

  /** Tries without a lock; where a writer comes between, reads under one. */
  async read(): Promise<[x: number, y: number, how: 'optimistic' | 'locked']> {
    const stamp = await this.locks.optimistic('point');
    const [x, y] = [this.x, this.y];
    if (await stamp.validate()) return [x, y, 'optimistic'];
    return this.locks.withLock('point', { mode: 'shared' }, () => [this.x, this.y, 'locked']);
  }
}

describe('an optimistic read', () => {
  it('takes no lock while nobody writes, and one where somebody does', async () => {
    const points = (await bench.app({ providers: [Points] })).get(Points);
    await points.move();
    expect(await points.read()).toEqual([1, 1, 'optimistic']);
    const [halfWay, goOn] = [new Gate(), new Gate()];
    const moving = points.move(halfWay, goOn);
    await halfWay.opened;
    const reading = points.read();
    goOn.open();
    await moving;
    const [x, y] = await reading;
    expect(x).toBe(y);
    expect(await points.read()).toEqual([2, 2, 'optimistic']);
  });

  it('sees the writers of other replicas', async () => {
    const [locks, rival] = [await bench.rival(), await bench.rival()];
    const stamp = await locks.optimistic('page');
    expect([stamp.key, await stamp.validate()]).toEqual(['page', true]);
    await rival.withLock('page', { mode: 'shared' }, async () => {
      expect(await stamp.validate()).toBe(true);
    });
    await rival.withLock('page', async () => {
      expect(await (await rival.optimistic('page')).validate()).toBe(false);
      expect(await stamp.validate()).toBe(false);
    });
    expect(await stamp.validate()).toBe(false);
    expect(await (await locks.optimistic('page')).validate()).toBe(true);
  });

  it('is the first that a lazy module does', async () => {
    const app = await bench.app({}, { lazyConnect: true });
    expect(await (await app.get(LockService).optimistic('lazy')).validate()).toBe(true);
  });

  it('is refused where tokens are off, and on what is no such lock', async () => {
    const blind = (await bench.app({}, { fencing: false })).get(LockService);
    await expect(blind.optimistic('page')).rejects.toThrow(LockOptionsError);
    const locks = await bench.rival();
    await expect(locks.optimistic('')).rejects.toThrow(LockKeyError);
    await locks.semaphore('exports', { permits: 2 }).withPermit(async () => {
      await expect(locks.optimistic('exports')).rejects.toThrow(ForeignLockError);
    });
  });
});
