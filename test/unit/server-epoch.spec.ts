import { beforeEach, describe, expect, it } from '@jest/globals';
import { ServerEpoch } from '../../lib/engine/locks/server-epoch.js';
import type { RedisConnection, ScriptRun } from '../../lib/engine/redis/index.js';
import { ManualClock, MemoryServer } from '../../lib/memory/testing/index.js';

/** The longest lease, in ms. */
const LONGEST = 30_000;

let clock: ManualClock;
let server: MemoryServer;
/** The clock of the server, which may be set apart from that of the process. */
let time: ManualClock;
let epoch: ServerEpoch;

const newEpoch = (longest = LONGEST): ServerEpoch => new ServerEpoch('lock:', longest, clock);

beforeEach(() => {
  [clock, time] = [new ManualClock(), new ManualClock()];
  server = new MemoryServer(time);
  epoch = newEpoch();
});

describe('a server that nobody has seen before', () => {
  it('grants nothing until all leases that it may have forgotten are over', async () => {
    expect(epoch.gracePeriod).toBe(Infinity);
    expect(() => epoch.check('k')).toThrow('None is granted for another a while');
    await epoch.admit(connectionTo('a'));
    expect(epoch.warnings).toHaveLength(1);
    await pass(LONGEST - 1);
    expect(epoch.gracePeriod).toBe(1);
    expect(() => epoch.check('k')).toThrow(
      expect.objectContaining({
        outcome: 'unsent',
        message: expect.stringContaining('another 1 ms'),
      }),
    );
    await pass(1);
    expect([epoch.gracePeriod, epoch.warnings]).toEqual([0, []]);
    epoch.check('k');
  });

  it('has one grace period, for all processes and connections', async () => {
    await epoch.admit(connectionTo('a'));
    await pass(10_000);
    const other = newEpoch();
    await Promise.all([epoch, other].map((each) => each.admit(connectionTo('a'))));
    expect([epoch.gracePeriod, other.gracePeriod]).toEqual([LONGEST - 10_000, LONGEST - 10_000]);
  });

  it('lasts for each process as long as the longest lease that this one knows', async () => {
    await newEpoch(5_000).admit(connectionTo('a'));
    await pass(10_000);
    await epoch.admit(connectionTo('a'));
    expect(epoch.gracePeriod).toBe(LONGEST - 10_000);
  });
});

describe('a server that was started anew', () => {
  beforeEach(async () => {
    await epoch.admit(connectionTo('a'));
    await pass(LONGEST);
  });

  it('has a grace period of its own, and one that is only connected again has none', async () => {
    await epoch.admit(connectionTo('a'));
    expect(epoch.gracePeriod).toBe(0);
    await epoch.admit(connectionTo('b'));
    expect(epoch.gracePeriod).toBe(LONGEST);
  });

  it('is not known, and grants nothing, while it is asked who it is', async () => {
    const admitted = epoch.admit(connectionTo('a'));
    expect(epoch.gracePeriod).toBe(Infinity);
    await admitted;
    expect(epoch.gracePeriod).toBe(0);
  });

  it('that comes back after another has a grace period again: it may have missed what that granted', async () => {
    await epoch.admit(connectionTo('b'));
    await pass(LONGEST);
    await epoch.admit(connectionTo('a'));
    expect(epoch.gracePeriod).toBe(LONGEST);
  });

  it('is refused where it does not tell its run id, and grants nothing', async () => {
    await expect(epoch.admit(connectionTo(undefined))).rejects.toMatchObject({
      code: 'LOCK_STORE',
      outcome: 'refused',
      retryable: false,
    });
    expect(epoch.gracePeriod).toBe(Infinity);
  });
});

describe('where the clock of the server is set within the grace period', () => {
  it.each([
    ['back, it lasts no longer than the longest lease', -3_600_000, LONGEST],
    ['ahead, it is over sooner', 20_000, LONGEST - 20_000],
  ])('%s', async (_how, step, left) => {
    await epoch.admit(connectionTo('a'));
    const wall = time.wall() + step;
    Object.assign(time, { wall: () => wall });
    await epoch.admit(connectionTo('a'));
    expect(epoch.gracePeriod).toBe(left);
  });
});

/** A connection to the process of the server with this run id. */
function connectionTo(id: string | undefined): RedisConnection {
  const info = `# Server\r\nredis_version:7.2.0\r\n${id === undefined ? '' : `run_id:${id}\r\n`}`;
  return {
    send: async () => info,
    run: async <Answer>(run: ScriptRun<Answer>) => {
      const { script } = run;
      const reply = server.eval(script, script.operands(run as ScriptRun<unknown>));
      return run.read(script.replyTo(0, 1, reply), clock.monotonic());
    },
  } as unknown as RedisConnection;
}

/** Time passes for the process and for the server. */
async function pass(ms: number): Promise<void> {
  await Promise.all([clock.advance(ms), time.advance(ms)]);
}
