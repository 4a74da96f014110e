import { beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../../docs/pages.js';
import { Consumer, INSTALLING } from '../consumer.js';
import { Place, startsAndLocks } from './place.js';

export const JEST = ['node_modules/jest/bin/jest.js', '--ci', '--rootDir=.', '--detectOpenHandles'];
const COMPILERS = { 'TypeScript 5.9': 'typescript', 'TypeScript 7': 'typescript-7' };
const RESOLUTIONS = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };

/** What holds in the application `test/package/consumers/<name>` once it has the package; its tests are run by each of `runners`. */
export function describeApplication(
  name: string,
  what: string,
  runners: Readonly<Record<string, string[]>>,
): void {
  const place = new Place();

  describe(`${what} that installed the package`, () => {
    let consumer: Consumer;

    beforeAll(async () => {
      consumer = await Consumer.install(name, place.tarball, place.folder);
      mkdirSync(join(consumer.folder, 'pages'));
      const tests = ['README.md', 'docs/testing.md'].flatMap(blocksOf);
      for (const [nth, { code }] of tests.entries()) {
        if (!/^(it|describe)\(/m.test(code)) continue;
        const kind = code.includes("from 'supertest'") ? 'e2e' : 'unit';
        writeFileSync(join(consumer.folder, `pages/${kind}-${nth + 1}.spec.ts`), code);
      }
    }, INSTALLING);

    it('is built, starts on Express and on Fastify, locks in every way and ends by itself', async () => {
      await startsAndLocks(consumer, place.redis.url);
    });

    it('has the command: npx runs it', async () => {
      // What npm itself says of its settings is not asked here.
      const ours = ['--no-install', '--loglevel=error', 'nest-redis-lock'];
      const npx = (...words: string[]) =>
        consumer.run('npx', [...ours, ...words], { REDIS_URL: place.redis.url });
      expect(await npx('list')).toEqual({ code: 0, stdout: 'No lock is held.\n', stderr: '' });
      expect(await npx('inspect', 'a', '--json')).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('"state":"free"'),
      });
      expect(await npx('lst')).toMatchObject({ code: 2, stderr: expect.stringContaining('"lst"') });
    });

    it.each(Object.entries(runners))(
      'passes its tests and those of the pages under %s, which has no setting for the package',
      async (_, runner) => {
        const outcome = await consumer.node(runner, { REDIS_URL: place.redis.url, NO_COLOR: '1' });
        const said = `${outcome.stdout}${outcome.stderr}It ended with ${outcome.code}`;
        expect(said).toMatch(/^ *Tests:? +[1-9]\d* passed(, \d+ total| \(\d+\))$/m);
        expect(said).toMatch(/It ended with 0$/);
        expect(said).not.toMatch(/did not exit|open handle/);
      },
    );

    it.each(Object.entries(COMPILERS))(
      'compiles under %s with every module resolution, our declarations checked too',
      async (_, compiler) => {
        const complaints = await Promise.all(
          Object.entries(RESOLUTIONS).map(async ([moduleResolution, module]) => {
            const flags = { module, moduleResolution, types: 'node,jest', noEmit: 'true' };
            const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
            const tsc = `node_modules/${compiler}/bin/tsc`;
            const { code, stdout } = await consumer.node([tsc, '-p', '.', ...args]);
            return [moduleResolution, code, stdout];
          }),
        );
        expect(complaints).toEqual([
          ['node16', 0, ''],
          ['nodenext', 0, ''],
          ['bundler', 0, ''],
        ]);
      },
    );
  });
}
