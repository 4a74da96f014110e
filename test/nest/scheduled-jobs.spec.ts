import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { CurrentLease, type Lease, Locked, type LockService } from '../../lib/index.js';
import { Gate } from '../support/gate.js';
import { untilFree } from '../support/inspected.js';
import { useBench } from '../support/nest-app.js';
import { SOON } from '../support/bounds.js';
import { until } from '../support/until.js';
import { done, Jobs } from './jobs-on-a-schedule.js';

const bench = useBench();
let rival: LockService;
beforeAll(async () => {
  rival = await bench.rival();
});

describe('@Locked above and below @Interval and @Cron', () => {
  it('runs the job on one replica, and skips it on the others', async () => {
    const parts = { imports: [ScheduleModule.forRoot()], providers: [Jobs] };
    const apps = [await bench.app(parts), await bench.app(parts)];
    for (const app of apps) {
      const registry = app.get(SchedulerRegistry, { strict: false });
      expect(registry.getIntervals().sort()).toEqual(['above', 'below', 'unlocked']);
      expect([...registry.getCronJobs().keys()].sort()).toEqual(['above', 'below']);
    }
    await until('both run', () => done.runs['interval'] === 1 && done.runs['cron'] === 1);
    const { lastFencingToken } = await rival.inspect('interval');
    const tried = done.ticks;
    await until('the others have tried', () => done.ticks > tried + 20);
    expect([done.runs, done.most]).toEqual([{ interval: 1, cron: 1 }, 2]);
    expect((await rival.inspect('interval')).lastFencingToken).toBe(lastFencingToken);

    done.leave.open();
    await until('both go on', () => done.runs['interval']! > 20 && done.runs['cron']! > 1);
    for (const app of apps) await app.close();
    expect(done.running).toBe(0);
  });
});

describe('a job that keeps its lock for a while', () => {
  it('is not run again by a replica whose clock is late', async () => {
    @Injectable()
    class Daily {
      runs = 0;

      @Locked('daily', { onBusy: 'skip', minHold: '1m' })
      async import(): Promise<void> {
        this.runs += 1;
      }
    }
    const replicas = [
      (await bench.app({ providers: [Daily] })).get(Daily),
      (await bench.app({ providers: [Daily] })).get(Daily),
    ];
    for (const replica of replicas) await replica.import();
    expect(replicas.map((replica) => replica.runs)).toEqual([1, 0]);
    expect((await rival.inspect('daily')).state).toBe('kept');
  });
});

describe('a job that is stuck', () => {
  it('loses its lock when maxHold is over, is told, and does not keep others from it', async () => {
    const stuck = new Gate();
    const told = new Gate();

    @Injectable()
    class Report {
      @Locked('report', { onBusy: 'skip', ttl: 1_000, maxHold: 2_000 })
      async write(@CurrentLease() lease?: Lease): Promise<void> {
        lease!.signal.addEventListener('abort', () => told.open());
        await stuck.opened;
      }
    }
    const report = (await bench.app({ providers: [Report] })).get(Report);
    const since = performance.now();
    const writing = report.write();
    writing.catch(() => {});
    await until('the job runs', async () => (await rival.inspect('report')).state === 'held');
    await untilFree(rival, 'report');
    expect(performance.now() - since).toBeGreaterThan(2_000 - 1_000);
    expect(performance.now() - since).toBeLessThan(2_000 + 1_000 + SOON);
    await told.opened;
    expect(await rival.tryAcquire('report')).not.toBeNull();
    stuck.open();
    await expect(writing).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'expired' });
  });
});
