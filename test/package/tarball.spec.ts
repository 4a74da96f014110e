import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { filesBelow } from '../architecture/files-below.js';
import { pack } from './packed.js';

let folder: string;
let root: string;
let files: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-tarball-'));
  const tarball = await pack(folder);
  mkdirSync(join(folder, 'unpacked'));
  execFileSync('tar', ['-xzf', tarball, '-C', join(folder, 'unpacked')]);
  root = join(folder, 'unpacked/package');
  files = filesBelow(root, '').map((file) => relative(root, file));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The links and pictures of pages in the package that lead to what lies beside them. */
function linksOf(pages: readonly string[]): { page: string; path: string }[] {
  return pages.flatMap((page) => {
    const prose = text(page).replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, '');
    const targets = [...prose.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target]) => target!);
    return targets
      .filter((target) => !/^(\w+:|\/)/.test(target))
      .map((target) => ({ page, path: join(dirname(page), target) }));
  });
}

function text(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

describe('the packed library', () => {
  it('has the licence, the changes and the sources beside what was built of them', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'CHANGELOG.md', 'lib/index.ts']));
  });

  it('has every file that its package.json points to', () => {
    const { exports, main, types, typesVersions } = JSON.parse(text('package.json'));
    const paths =
      JSON.stringify([exports, main, types, typesVersions]).match(
        /(?<=")\.\/[^"]+\.(js|ts|json)(?=")/g,
      ) ?? [];
    expect(paths.length).toBeGreaterThan(12);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('has every Lua script, with its includes, in both formats', () => {
    const scripts = filesBelow('lib/locks', '.lua').filter((path) => !path.includes('/includes/'));
    for (const format of ['esm', 'cjs']) {
      for (const script of scripts) {
        const built = text(script.replace(/^lib/, `dist/${format}`) + '.js');
        const does = readFileSync(script, 'utf8').split('\n', 1)[0]!;
        expect(built).toContain(JSON.stringify(does).slice(1, -1));
        expect(built).not.toContain('@include');
      }
    }
  });

  it('has no tests, tools or samples', () => {
    const strays = files.filter((file) => !/^(dist|lib|docs)\//.test(file));
    expect(strays.sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'].filter((file) =>
        files.includes(file),
      ),
    );
    expect(files.filter((file) => /\.spec\.|jest/.test(file))).toEqual([]);
  });

  it('has the pages that its README links to, with their pictures, and nothing else of the site', () => {
    const pages = files.filter((file) => /^(README|docs\/[\w-]+)\.md$/.test(file));
    expect(pages.length).toBeGreaterThan(10);
    expect(linksOf(pages).filter(({ path }) => !files.includes(path))).toEqual([]);
    const others = files.filter((file) =>
      /^docs\/(?!(bench|public)\/)[^]*(?<!\.md|\.svg)$/.test(file),
    );
    expect(others).toEqual([]);
  });

  it('has no path of the machine it was built on', () => {
    const places = [homedir(), process.cwd(), tmpdir(), root].filter((place) => place.length > 1);
    const telling = files.filter((file) => places.some((place) => text(file).includes(place)));
    expect(telling).toEqual([]);
  });

  it('has source maps that lead to sources it has', () => {
    const maps = files.filter((file) => file.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(50);
    const lost = maps.filter((map) => {
      const { sources } = JSON.parse(text(map)) as { sources: string[] };
      return sources.some((source) => !files.includes(join(dirname(map), source)));
    });
    expect(lost).toEqual([]);
  });

  it('exports the same names from both formats', async () => {
    for (const entry of ['index.js', 'testing/index.js']) {
      const names = ['esm', 'cjs'].map((format) =>
        exportedNames(join(root, 'dist', format, entry)),
      );
      expect(names[0]!.length).toBeGreaterThan(2);
      expect(names[1]).toEqual(names[0]);
    }
  });
});

/** What a module exports at run time, seen from a process of its own: Jest maps modules. */
function exportedNames(file: string): string[] {
  const link = join(root, 'node_modules');
  if (!existsSync(link)) execFileSync('ln', ['-s', join(process.cwd(), 'node_modules'), link]);
  const code = `import(${JSON.stringify(file)}).then((m) => console.log(JSON.stringify(Object.keys(m))))`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  return (JSON.parse(said) as string[])
    .filter((name) => name !== 'default' && name !== 'module.exports' && name !== '__esModule')
    .sort();
}
