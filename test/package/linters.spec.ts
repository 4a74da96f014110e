import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publint } from 'publint';
import { BUILDING, pack } from './packed.js';

let folder: string;
let tarball: Buffer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-linters-'));
  tarball = readFileSync(await pack(folder));
}, BUILDING);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed library', () => {
  it('has nothing that publint complains of', async () => {
    const data = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);
    const { messages } = await publint({ pack: { tarball: data as ArrayBuffer } });
    expect(messages).toEqual([]);
  });

  it('shows every module resolution its types', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(tarball));
    if (analysis.types === false) throw new Error('The package has no types.');
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(exports));
    expect(analysis.problems).toEqual([]);
  });
});
