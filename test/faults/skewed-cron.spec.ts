import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { KEPT } from '../../lib/engine/protocol/constants.js';
import { until } from '../support/until.js';
import { clocks, EVERY, MIN_HOLD, SkewedReplicas } from './replicas-with-skewed-clocks.js';

const FULL = process.env['FULL'] !== undefined;
/** How many turns each job has. */
const TURNS = FULL ? 4 : 1;
/** Of each kind, with locks of their own, whose turns come at once. */
const JOBS = FULL ? 5 : 1;
/** In ms; start-up and a last decision beside the turns. */
const LONG = (TURNS + 2) * EVERY * 1_000 + 40_000;

let world: SkewedReplicas;
beforeEach(async () => {
  world = await SkewedReplicas.on();
});
afterEach(() => world.stop());
afterAll(() => clocks.forEach((clock) => clock?.remove()));

const withClocks = clocks.every(Boolean) ? describe : describe.skip;

withClocks('a job of a moment, on three replicas whose clocks are up to its minHold apart', () => {
  it(
    'runs once a turn, also where it fails',
    async () => {
      const jobs = ['fast', 'failing'].flatMap((kind) =>
        Array.from({ length: JOBS }, (_, at) => `${kind}-${at}`),
      );
      await world.start({ jobs });
      expect(await world.runsOfTurns(TURNS, jobs)).toEqual(jobs.map(() => Array(TURNS).fill(1)));
    },
    LONG,
  );

  it('runs once a clock without minHold: the test can fail', async () => {
    await world.start({ minHold: 0 });
    const [runs] = await world.runsOfTurns(1, ['job']);
    expect(Math.max(...runs!)).toBeGreaterThan(1);
  });

  it('does not run again when the replica that runs it shuts down meanwhile', async () => {
    await world.start();
    const before = await until('it ran', () => world.notes('run').length);
    world.jobsStay(true);
    const { pid, turn } = await until('it runs and stays', () => world.notes('run')[before]);
    const runner = world.replicas.find((replica) => replica.pid === pid)!;
    await runner.terminate();
    world.jobsStay(false);
    expect(await world.observer.holder('job')).toBe(KEPT);
    expect(await world.observer.redis.pttl('lock:job')).toBeLessThanOrEqual(MIN_HOLD);
    world.replicas = world.replicas.filter((replica) => replica !== runner);
    await until('its turn has come on the others', () => {
      return (
        world.notes('turn').filter((note) => note.turn === turn && note.pid !== pid).length === 2
      );
    });
    const next = await until('another runs the next', () => world.notes('run')[before + 1]);
    expect(next.turn).toBeGreaterThan(turn);
    expect(next.pid).not.toBe(pid);
  });
});
