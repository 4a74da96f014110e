import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { filesBelow } from '../architecture/files-below.js';
import { BUILDING, pack } from './packed.js';

const lua = '../../tools/lua.mjs';
const { withConstants } = (await import(lua)) as { withConstants: (source: string) => string };

const FORMATS = ['esm', 'cjs'];

/** What package.json exports, as dist/ names it. */
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: object };
const entries = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json')
  .map((name) => (name === '.' ? 'index' : basename(name)));

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
}, BUILDING);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed library', () => {
  it('has the licence and the changes, in few files and few bytes', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'CHANGELOG.md']));
    expect(files.length).toBeLessThanOrEqual(68 + 6 * entries.length); // pages, alert rules, the locks in memory; code, map and types in two formats
    const bytes = files.map((file) => statSync(join(root, file)).size);
    // 0.24 MB of it are the command, which shares no file with the library: it would load Nest; 0.52 MB are pages and pictures.
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(2_500_000);
  });

  it('has in its package.json nothing that only the repository needs', () => {
    const names = Object.keys(JSON.parse(text('package.json')));
    expect(names).toEqual(expect.arrayContaining(['exports', 'peerDependencies', 'engines']));
    for (const own of ['workspaces', 'scripts', 'devDependencies', 'overrides']) {
      expect(names).not.toContain(own);
    }
  });

  it('has every file that its package.json points to', () => {
    const { bin, exports, main, types, typesVersions } = JSON.parse(text('package.json'));
    const paths =
      JSON.stringify([
        { command: `./${bin['nest-redis-lock']}` },
        exports,
        main,
        types,
        typesVersions,
      ]).match(/(?<=")\.\/[^"]+\.(js|ts|json)(?=")/g) ?? [];
    expect(paths.length).toBeGreaterThan(12);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it.each(FORMATS)(
    'has one file for each entry point, two that they share, and one for locks in memory as %s',
    (format) => {
      const names = [...entries, 'shared', 'telemetry', 'memory-lock-store'];
      const built = files.filter((file) => dirname(file) === `dist/${format}`);
      expect(built.map((file) => basename(file)).sort()).toEqual(
        [
          ...names.flatMap((name) => [`${name}.js`, `${name}.js.map`]),
          ...[...entries, 'shared'].map((name) => `${name}.d.ts`),
          ...(format === 'cjs' ? ['package.json'] : []),
        ].sort(),
      );
    },
  );

  it.each(FORMATS)('has the code of every Lua script and include as %s', (format) => {
    const code = [...entries, 'shared'].map((name) => text(`dist/${format}/${name}.js`)).join('\n');
    const absent = filesBelow('lib', '.lua').filter((script) =>
      withConstants(readFileSync(script, 'utf8'))
        .split('\n')
        .some(
          (line) =>
            !/^\s*(--|$)/.test(line) &&
            !code.includes(JSON.stringify(line.replace(/ --.*/, '').trim()).slice(1, -1)),
        ),
    );
    expect(absent).toEqual([]);
    expect(code).not.toContain('@include');
  });

  it.each(FORMATS)('calls every class what its source calls it, as %s', (format) => {
    const classes = files
      .filter((file) => file.startsWith(`dist/${format}/`) && file.endsWith('.js'))
      .flatMap((file) => [...text(file).matchAll(/\bclass (?!extends\b)([A-Z][\w$]*)/g)]);
    expect(classes.length).toBeGreaterThan(100);
    expect(classes.map(([, name]) => name).filter((name) => /\$|\d$/.test(name!))).toEqual([]);
  });

  it('has the command in one file, which loads neither Nest nor the parser of parameter names', () => {
    const { bin } = JSON.parse(text('package.json')) as { bin: Record<string, string> };
    expect(Object.keys(bin)).toEqual(['nest-redis-lock']);
    const code = text(bin['nest-redis-lock']!);
    expect(code.startsWith('#!/usr/bin/env node\n')).toBe(true);
    const packages = [...code.matchAll(/\b(?:from|import) ?"(?!node:)([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect([...new Set(packages)]).toEqual(['ioredis']);
  });

  it('has no tests, tools or samples', () => {
    const strays = files.filter((file) => !/^(dist\/|docs\/|lib\/README\.md$)/.test(file));
    expect(strays.sort()).toEqual(
      [
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'package.json',
      ].filter((file) => files.includes(file)),
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

  it('has source maps that lead from each file that is imported to the TypeScript it is made of', () => {
    const maps = files.filter((file) => file.endsWith('.map'));
    const programs = ['dist/cli.js']; // it shows sentences, never a stack
    expect(maps.map((map) => map.replace(/\.map$/, ''))).toEqual(
      files.filter((file) => /^dist\/.*\.js$/.test(file) && !programs.includes(file)),
    );
    const sources = maps.flatMap((map) =>
      (JSON.parse(text(map)) as { sources: string[] }).sources.map((source) =>
        join(dirname(map), source),
      ),
    );
    expect(sources.length).toBeGreaterThan(200);
    expect(
      sources.filter((source) => !/^lib\/.*\.ts$/.test(source) || !existsSync(source)),
    ).toEqual([]);
  });

  it('shows the line of TypeScript where an error was made', () => {
    const index = join(linked(), 'dist/esm/index.js');
    const code = `import { lockKey } from ${JSON.stringify(index)}; lockKey\`a${'$'}{{}}\`;`;
    const { stderr } = spawnSync(
      process.execPath,
      ['--enable-source-maps', '--input-type=module', '-e', code],
      { encoding: 'utf8' },
    );
    const [, line] = /at lockKey \(.*\/lib\/engine\/keys\/lock-key\.ts:(\d+):/.exec(stderr) ?? [];
    const source = readFileSync('lib/engine/keys/lock-key.ts', 'utf8').split('\n');
    expect(source[Number(line) - 1]).toContain('reduce');
  });

  it.each(FORMATS)('loads nothing that an entry point does not need, as %s', (format) => {
    const { peerDependenciesMeta } = JSON.parse(text('package.json'));
    const optional = Object.keys(peerDependenciesMeta);
    expect(packagesOf(format, 'index').filter((name) => optional.includes(name))).toEqual([]);
    expect(packagesOf(format, 'testing').filter((name) => optional.includes(name))).toEqual([]);
    // Before Nest and ioredis, or tools that patch those would come too late.
    expect(packagesOf(format, 'opentelemetry')).toEqual(['@opentelemetry/api']);
    expect(packagesOf(format, 'prometheus')).toEqual(['prom-client']);
  });

  it('exports the same names from both formats', async () => {
    for (const entry of entries) {
      const names = FORMATS.map((format) =>
        exportedNames(join(linked(), 'dist', format, `${entry}.js`)),
      );
      expect(names[0]!.length).toBeGreaterThan(0);
      expect(names[1]).toEqual(names[0]);
    }
  });
});

/** The packages that a file of the package loads, itself or by others of it. */
function packagesOf(format: string, name: string): string[] {
  const met = new Set([`./${name}.js`]);
  for (const file of met) {
    if (!file.startsWith('./')) continue;
    const code = text(join('dist', format, file));
    for (const [, target] of code.matchAll(/^(?:import|[^\n]*\brequire\()[^\n]*?'([^']+)'\)?;/gm)) {
      met.add(target!);
    }
  }
  return [...met].filter((target) => !/^(\.|node:)/.test(target));
}

/** What a module exports at run time, seen from a process of its own: Jest maps modules. */
function exportedNames(file: string): string[] {
  const code = `import(${JSON.stringify(file)}).then((m) => console.log(JSON.stringify(Object.keys(m))))`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  return (JSON.parse(said) as string[])
    .filter((name) => name !== 'default' && name !== 'module.exports' && name !== '__esModule')
    .sort();
}

/** The package, with the packages that it needs beside it. */
function linked(): string {
  const link = join(root, 'node_modules');
  if (!existsSync(link)) symlinkSync(resolve('node_modules'), link);
  return root;
}

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
