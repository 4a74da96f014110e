import { expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

const tool = '../../tools/test/group.mjs';
type Spec = (path: string, load: () => Promise<void>) => Promise<void>;
const { spec } = (await import(tool)) as { spec: Spec };

const { setTimeout, Math: maths } = globalThis;
const random = maths.random;
const nests = Logger.isLevelEnabled('warn');

await spec('the first', async () => {
  process.env['OF_THE_FIRST'] = 'set as it is loaded';
  Logger.overrideLogger(false);

  it('finds what it has set as it was loaded', () => {
    expect(expect.getState().currentTestName).toMatch(/^the first finds/);
    expect(process.env['OF_THE_FIRST']).toBe('set as it is loaded');
    expect(Logger.isLevelEnabled('warn')).toBe(false);
  });

  it('may leave behind spies, timers of its own and another environment', () => {
    jest.spyOn(maths, 'random').mockReturnValue(0.5);
    jest.useFakeTimers();
    delete process.env['PATH'];
    expect(globalThis.setTimeout).not.toBe(setTimeout);
  });
});

const leftByLoading = process.env['OF_THE_FIRST'];

await spec('the second', async () => {
  it('finds nothing of the first', () => {
    expect([leftByLoading, process.env['OF_THE_FIRST']]).toEqual([undefined, undefined]);
    expect(process.env['PATH']).toBeDefined();
    expect(Logger.isLevelEnabled('warn')).toBe(nests);
    expect(globalThis.setTimeout).toBe(setTimeout);
    expect(maths.random).toBe(random);
  });
});
