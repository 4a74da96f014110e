import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { relative } from 'node:path';
import { filesBelow } from './files-below.js';
import { type Import, imports, layerOf } from './imports.js';
import { GROUND, LAYERS, VISIBLE } from './layers.js';

const NEST_LAYERS = /^(nest\b|memory\/testing$|watch\/(terminus|board)$)/;
const WIRES = ['.', 'nest', 'memory', 'memory/testing', 'watch/cli'];

it('finds the imports of every file that has some', () => {
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter(({ file }) => file === 'index.ts').length).toBeGreaterThan(3);
});

it('has no folder that is not a layer of the table', () => {
  const folders = new Set(filesBelow('lib', '.ts').map((path) => layerOf(relative('lib', path))));
  expect([...folders].filter((folder) => !(folder in LAYERS))).toEqual([]);
});

it('has at most five folders at its top, and the tree of its README', () => {
  const folders = (at: string) =>
    readdirSync(at, { withFileTypes: true }).flatMap((each) =>
      each.isDirectory() ? [each.name] : [],
    );
  const tops = folders('lib');
  expect(tops.length).toBeLessThanOrEqual(5);
  const [, tree = ''] = readFileSync('lib/README.md', 'utf8').split('```');
  const drawn = [...tree.matchAll(/── (\w+)\//g)].map(([, name]) => name!);
  expect(drawn.sort()).toEqual(tops.flatMap((top) => [top, ...folders(`lib/${top}`)]).sort());
});

it('calls from layer to layer in one direction', () => {
  const wrong = imports.filter(({ layer, target, ours }) => {
    const to = layerOf(target);
    if (!ours || to === layer) return false;
    return !GROUND.includes(to) && !LAYERS[layer]!.includes(to);
  });
  expect(sentences(wrong)).toEqual([]);
});

/** The rooms of client/, and those that each may import. `.` is the client itself. */
const ROOMS: Record<string, readonly string[]> = {
  '.': ['queue', 'leases'],
  queue: ['leases'],
  leases: [],
};

it('calls in client/ from the client to the queues, and from these to the leases', () => {
  const roomOf = (path: string): string =>
    /^engine\/client\/(queue|leases)\//.exec(path)?.[1] ?? '.';
  const wrong = imports.filter(({ file, layer, target, ours }) => {
    if (layer !== 'engine/client' || !ours || layerOf(target) !== layer) return false;
    const [from, to] = [roomOf(file), roomOf(target)];
    return from !== to && !ROOMS[from]!.includes(to);
  });
  expect(sentences(wrong)).toEqual([]);
});

it('keeps what protocol, options, events and errors import to each other', () => {
  const wrong = imports.filter(
    ({ layer, target, ours }) =>
      GROUND.includes(layer) && ours && !GROUND.includes(layerOf(target)),
  );
  expect(sentences(wrong)).toEqual([]);
});

it('lets no layer but the root see a kind of lock, or the module', () => {
  const wrong = imports.filter(({ layer, target, ours }) => {
    const to = layerOf(target);
    if (!ours || to === layer || WIRES.includes(layer)) return false;
    return to in VISIBLE && !VISIBLE[to]!.test(target);
  });
  expect(sentences(wrong)).toEqual([]);
});

it('runs ioredis in redis/ alone, and names its types in options/ beside it', () => {
  const wrong = imports.filter(
    ({ layer, target, typeOnly }) =>
      /^ioredis(\/|$)/.test(target) &&
      layer !== 'engine/redis' &&
      !(layer === 'engine/options' && typeOnly),
  );
  expect(sentences(wrong)).toEqual([]);
});

it('knows what spans and metrics are kept with in the entry point for it alone', () => {
  const homes: Record<string, string> = {
    '@opentelemetry/api': 'watch/opentelemetry',
    'prom-client': 'watch/prometheus',
  };
  const wrong = imports.filter(({ layer, target }) => target in homes && layer !== homes[target]);
  expect(sentences(wrong)).toEqual([]);
});

it('knows Nest in nest/ alone, and where a module of Nest is offered', () => {
  const wrong = imports.filter(
    ({ layer, target }) => target.startsWith('@nestjs/') && !NEST_LAYERS.test(layer),
  );
  expect(sentences(wrong)).toEqual([]);
});

it('imports no package that it does not declare, and none that is for development', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const declared = Object.keys({ ...dependencies, ...peerDependencies });
  const wrong = imports.filter(({ target, ours }) => {
    if (ours || target.startsWith('node:')) return false;
    const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/');
    return !declared.includes(name) || builtinModules.includes(name);
  });
  expect(sentences(wrong)).toEqual([]);
});

it('imports no include: they are written into scripts, and not in the package', () => {
  expect(
    sentences(imports.filter(({ target }) => target.startsWith('engine/locks/includes/'))),
  ).toEqual([]);
});

it('has no folder called utils, helpers, common, types or the like', () => {
  const vague = /\/(utils?|helpers?|common|types|misc|shared|core)\//;
  expect(filesBelow('lib', '').filter((path) => vague.test(path))).toEqual([]);
});

function sentences(found: readonly Import[]): string[] {
  return found.map(({ file, target }) => `${file} imports ${target}`);
}
