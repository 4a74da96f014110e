import { expect, it } from '@jest/globals';
import { watch } from '../../lib/watch/cli/commands/watch.js';
import type { Context } from '../../lib/watch/cli/context.js';
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
