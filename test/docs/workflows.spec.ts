import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { readdirSync, readFileSync } from 'node:fs';

interface Job {
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps: readonly { readonly run?: string; readonly with?: { readonly path?: string } }[];
}

const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
  repository?: unknown;
};
const FOLDER = '.github/workflows';
const jobs = readdirSync(FOLDER).flatMap((file) => {
  const { jobs } = load(readFileSync(`${FOLDER}/${file}`, 'utf8')) as { jobs: Record<string, Job> };
  return Object.values(jobs);
});
const commands = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

describe('the workflows', () => {
  it('run scripts that package.json has, and those of npm', () => {
    const called = commands.flatMap((run) =>
      [...run.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name]) => name!),
    );
    expect(called).toEqual(expect.arrayContaining(['test', 'docs', 'publish']));
    const own = ['ci', 'pkg', 'publish'];
    expect(called.filter((name) => !own.includes(name) && !(name in manifest.scripts))).toEqual([]);
  });

  it('test on the versions of Node that CONTRIBUTING says', () => {
    const [versions] = jobs.flatMap(({ strategy }) => (strategy ? [strategy.matrix.node] : []));
    const [last, ...others] = versions!.toReversed();
    expect(contributing).toContain(`on Node ${others.reverse().join(', ')} and ${last}`);
  });

  it('publish the site from where it is built', () => {
    const [path] = jobs.flatMap(({ steps }) => steps.flatMap((step) => step.with?.path ?? []));
    expect(readFileSync('docs/.vitepress/config.mjs', 'utf8')).toContain(`outDir: '../${path}'`);
  });

  it('need of the owner what CONTRIBUTING names', () => {
    const environments = jobs.flatMap(({ environment }) => environment ?? []);
    expect(environments).toEqual(['github-pages', 'release']);
    expect(contributing).toContain('environment `release`');
    expect(contributing).toContain('source of Pages');
    const isProven = commands.some((run) => run.includes('--provenance'));
    const knows = 'repository' in manifest || contributing.includes('`repository`');
    expect([isProven, knows]).toEqual([true, true]);
  });
});
