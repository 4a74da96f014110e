import { beforeEach, describe, expect, it } from '@jest/globals';
import { ServerClock } from '../../lib/engine/redis/server-clock.js';

/** A moment of ours; the machine has slept `slept` ms till then. */
function at(monotonic: number, slept = 0): { monotonic: number; wall: number } {
  return { monotonic, wall: 1_000_000 + monotonic + slept };
}

let clock: ServerClock;
beforeEach(() => {
  clock = new ServerClock();
});

/** The server showed 50,000 between our 100 and our 140. */
function learn(): void {
  clock.learn(at(100), 140, 50_000);
}

describe('the clock of a server', () => {
  it('is unknown before a first sample and after it was forgotten', () => {
    expect(clock.known).toBe(false);
    expect(clock.momentAt(50_000, at(0))).toBeUndefined();
    expect(() => clock.serverTimeAt(0)).toThrow('not known yet');
    learn();
    expect(clock.known).toBe(true);
    clock.forget();
    expect(clock.known).toBe(false);
    expect(clock.momentAt(50_000, at(150))).toBeUndefined();
  });

  it('is never taken to be ahead: the sample counts from its arrival', () => {
    learn();
    expect(clock.serverTimeAt(140)).toBe(50_000);
    expect(clock.serverTimeAt(1_140)).toBe(51_000);
  });

  it('places nothing later than it was: the sample counts from its sending', () => {
    learn();
    expect(clock.momentAt(50_010, at(200))).toEqual(at(110));
    expect(clock.momentAt(49_990, at(200))).toEqual(at(90));
  });

  it('places nothing after now, although the server runs fast', () => {
    learn();
    expect(clock.momentAt(50_103, at(200))).toEqual(at(200));
  });

  it('places nowhere what is yet to come', () => {
    learn();
    expect(clock.momentAt(60_000, at(200))).toBeUndefined();
  });

  it('is forgotten 2 s after its sample arrived', () => {
    learn();
    expect(clock.momentAt(51_900, at(2_140))).toEqual(at(2_000));
    expect(clock.momentAt(51_900, at(2_141))).toBeUndefined();
  });

  it('does not place what is older than 2 s', () => {
    learn();
    expect(clock.momentAt(48_100, at(200))).toEqual(at(-1_800));
    expect(clock.momentAt(48_099, at(200))).toBeUndefined();
  });

  it('places nothing once the machine has slept, or its clock was set, by more than 5 ms', () => {
    learn();
    expect(clock.momentAt(50_010, at(200, 5))).toBeDefined();
    expect(clock.momentAt(50_010, at(200, 6))).toBeUndefined();
    expect(clock.momentAt(50_010, at(200, -6))).toBeUndefined();
  });

  it('is that of the last sample', () => {
    learn();
    clock.learn(at(300), 310, 70_000);
    expect(clock.serverTimeAt(310)).toBe(70_000);
    expect(clock.momentAt(70_000, at(320))).toEqual(at(300));
  });
});
