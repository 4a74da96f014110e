import { expect, it } from '@jest/globals';
import { watch } from '../../lib/watch/cli/commands/watch.js';
import type { Context } from '../../lib/watch/cli/context.js';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import { moduleSettings } from '../../lib/engine/options/index.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { until } from '../support/until.js';

it('watch keeps nothing of what it has shown, however long somebody looks', async () => {
  const closed = new AbortController();
  const shown: WeakRef<object>[] = [];
  const context = {
    request: { command: 'watch', operand: '*', values: { json: true, interval: '100ms' } },
    terminal: {
      closed: closed.signal,
      printJson: (sight: object) => void shown.push(new WeakRef(sight)),
      caughtUp: async () => {},
      endDrawing: () => {},
    },
    settings: moduleSettings({}),
    client: { names: async () => [] },
  } as unknown as Context;
  const watching = watch(context);
  await until('it has shown ten', () => shown.length >= 10);
  await collectGarbage();
  expect(shown.filter((sight) => sight.deref() !== undefined).length).toBeLessThan(4);
  closed.abort();
  expect(await watching).toBe(0);
});

it('watch tells of each holder, also where nobody knows when it began: its lock has no tokens', async () => {
  const holders = [
    newHolderId('web-1.7.aaaaaaaaaaa', false),
    newHolderId('web-1.7.aaaaaaaaaaa', false),
    newHolderId('web-1.7.aaaaaaaaaaa', false, 'report'),
    newHolderId('web-2.8.bbbbbbbbbbb', false),
  ];
  const held = { type: 'string', now: 1, remaining: 1_000, waiting: 0, awaiting: 0, entries: [] };
  const closed = new AbortController();
  const printed: string[] = [];
  const context = {
    request: { command: 'watch', operand: '*', values: { interval: '100ms' } },
    terminal: {
      closed: closed.signal,
      isScreen: false,
      print: (line: string) => void printed.push(line),
      caughtUp: async () => holders.length > 0 || closed.abort(),
      endDrawing: () => {},
    },
    settings: moduleSettings({}),
    client: {
      names: async () => ['k'],
      inspect: async () => ({ ...held, holder: holders.shift() }),
    },
  } as unknown as Context;
  expect(await watch(context)).toBe(0);
  const told = printed.flatMap((line) => line.match(/web-\d|report/g)?.join(' ') ?? []);
  expect(told).toEqual(['web-1', 'web-1 report', 'web-2']);
});
