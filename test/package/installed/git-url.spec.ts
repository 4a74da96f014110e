import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Consumer, INSTALLING } from '../consumer.js';

const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-git-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it(
  'npm installs the library from a git URL, built',
  async () => {
    const empty = await Consumer.ofGit(folder);
    const code = `
    import { LockService } from 'nest-redis-lock';
    import { memoryLockService } from 'nest-redis-lock/testing';
    console.log(await memoryLockService().withLock('a', () => LockService.name));`;
    const ran = await empty.node(['--input-type=module', '--eval', code]);
    expect(ran).toEqual({ code: 0, stdout: 'LockService\n', stderr: '' });
  },
  INSTALLING,
);
