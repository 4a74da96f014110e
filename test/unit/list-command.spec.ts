import { describe, expect, it } from '@jest/globals';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import { LockService } from '../../lib/nest/services/lock.service.js';
import { inspect } from '../../lib/watch/cli/commands/inspect.js';
import { list } from '../../lib/watch/cli/commands/list.js';
import { release } from '../../lib/watch/cli/commands/release.js';
import type { Context } from '../../lib/watch/cli/context.js';
import type { NameSearch } from '../../lib/engine/locks/lock-names.js';
import { moduleSettings, systemClock } from '../../lib/engine/options/index.js';
import { MemoryLockStore } from '../../lib/memory/memory-lock-store.js';
import { memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';

const settings = moduleSettings({});

/** Frees some locks after a search has found their names. */
class LateStore extends MemoryLockStore {
  constructor(private readonly freed: readonly string[]) {
    super(new MemoryServer(systemClock), settings);
  }

  override async names(search: NameSearch): Promise<string[]> {
    const names = await super.names(search);
    for (const key of this.freed) await this.force(key);
    return names;
  }
}

const MORE = 'There may be more than 2: give a narrower pattern, or a greater --limit.';

it('list says that there may be more, however many of what it found are free by then', async () => {
  expect(await listed(['a', 'b', 'c'], [])).toEqual(['KEY', 'a', 'b', MORE]);
  expect(await listed(['a', 'b', 'c'], ['a'])).toEqual(['KEY', 'b', MORE]);
  expect(await listed(['a', 'b', 'c'], ['a', 'b'])).toEqual([MORE]);
});

it('list says nothing of more where there are fewer than its limit', async () => {
  expect(await listed(['a'], [])).toEqual(['KEY', 'a']);
  expect(await listed(['a'], ['a'])).toEqual(['No lock is held.']);
});

describe.each([
  [99, '×99', 'and 79 more', 'and 98 more'],
  [120, '×100+', 'and 80+ more', 'and 99+ more'],
])('a lock with %i readers', (readers, count, inInspect, inQuestion) => {
  it('is shown with as many as were seen, and with a plus where there may be more', async () => {
    const service = memoryLockService();
    const { client, settings: ofService } = LockService.internals(service);
    for (let nth = 0; nth < readers; nth += 1) {
      await service.acquire('k', { mode: 'shared', label: `job ${nth}` });
    }
    const lines: string[] = [];
    const context = (operand: string): Context =>
      ({
        request: { operand, values: {} },
        terminal: {
          columns: Infinity,
          canAsk: true,
          print: (line: string) => void lines.push(line),
          confirms: (question: string) => void lines.push(question),
        },
        settings: ofService,
        client,
      }) as unknown as Context;
    await list(context('*'));
    expect(lines.splice(0)[1]).toContain(`  shared ${count}  `);
    await inspect(context('k'));
    const inspected = lines.splice(0).join('\n');
    expect(inspected).toContain(`held, shared ${count}\n`);
    expect(inspected).toContain(`  ${inInspect}\n`);
    await release(context('k'));
    expect(lines[0]).toContain(`(shared ${count})`);
    expect(lines[0]).toContain(` ${inQuestion}, `);
    client.takeAll();
    await client.close();
  });
});

/** The first words of what `list` prints of these locks, some of which are free by the time they are looked at. */
async function listed(held: readonly string[], freed: readonly string[]): Promise<string[]> {
  const client = new LockClient(new LateStore(freed), settings, systemClock);
  for (const key of held) await client.acquire(key, settings.call);
  const lines: string[] = [];
  const context = {
    request: { command: 'list', operand: '*', values: { limit: '2' } },
    terminal: { columns: Infinity, print: (line: string) => void lines.push(line) },
    settings,
    client,
  } as unknown as Context;
  expect(await list(context)).toBe(0);
  client.takeAll();
  await client.close();
  return lines.map((line) => line.split('  ')[0]!);
}
