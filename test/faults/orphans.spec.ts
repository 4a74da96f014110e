import { describe, expect, it } from '@jest/globals';
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startChild } from '../../tools/children.js';
import { compiledWorkers } from '../support/compiled-workers.js';
import { until } from '../support/until.js';

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('on Linux', () => {
  it('servers and workers end with a test run that is killed, stopped ones too', async () => {
    const parent = fork(join(compiledWorkers(), 'test/support/parent-main.js'));
    const [pids] = (await once(parent, 'message')) as [number[]];
    expect(pids.filter(lives)).toHaveLength(2);
    parent.kill('SIGKILL');
    await until('they are gone', () => pids.every((pid) => !lives(pid)));
  });
});

it('children that have ended leave no listener behind', async () => {
  const before = process.listenerCount('exit');
  const start = (): ChildProcess => startChild(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  const children = Array.from({ length: 12 }, start);
  expect(process.listenerCount('exit')).toBe(before + 1);
  await Promise.all(children.map((child) => once(child, 'exit')));
  expect(process.listenerCount('exit')).toBe(before);
});

/** False also of one that nobody has asked yet how it ended. */
function lives(pid: number): boolean {
  try {
    const state = execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' });
    return !state.startsWith('Z');
  } catch {
    return false;
  }
}
