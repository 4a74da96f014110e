import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { filesBelow } from '../architecture/files-below.js';
import { outsideNpm } from './outside-npm.js';

const BANK = 'test/docs/bank';
const NEW = ['new', 'bank', '--skip-install', '--skip-git', '--package-manager', 'npm'];

// Nest's command line wants a newer Node than 20 and is large, so the full run alone fetches it.
const when = process.env['FULL'] !== undefined ? describe : describe.skip;

when('an empty application of the pages', () => {
  it('is what `nest new` makes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-new-'));
    try {
      const cli = ['exec', '--yes', '--package', '@nestjs/cli@12', '--', 'nest', ...NEW];
      await promisify(execFile)('npm', cli, { cwd: folder, env: outsideNpm() });
      const files = filesBelow(BANK, '').map((path) => relative(BANK, path));
      const read = (place: string): string[] =>
        files.map((file) => `${file}\n${readFileSync(join(place, file), 'utf8')}`);
      expect(read(BANK)).toEqual(read(join(folder, 'bank')));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, 300_000);
});
