import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { narrow } from './narrow.mjs';
import { lineMap } from './line-map.mjs';

/** The helpers of compiled TypeScript, the one package that is bundled. */
const TSLIB = fileURLToPath(import.meta.resolve('tslib/tslib.es6.mjs'));

/** Reads what the compiler wrote, each module with its way back to TypeScript. */
const compiled = {
  name: 'compiled',
  resolveId: (id) => (id === 'tslib' ? TSLIB : null),
  load(id) {
    const code = readFileSync(id, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
    const known = id !== TSLIB && !/\.(lua|html)\.js$/.test(id);
    return { code, map: known ? readFileSync(`${id}.map`, 'utf8') : { mappings: '' } };
  },
};

/** Writes the entry points of `folder` to dist/<name>/, in each of the `formats`, with source maps. */
export async function bundleCode(folder, entries, formats) {
  const bundle = await open(folder, entries, '.js', compiled);
  for (const [name, format] of Object.entries(formats)) {
    const { output } = await bundle.generate({
      ...common(format),
      dir: `dist/${name}`,
      chunkFileNames: '[name].js',
      sourcemap: 'hidden',
    });
    for (const { fileName, code, map } of output.filter(({ type }) => type === 'chunk')) {
      write(`dist/${name}/${fileName}`, `${narrow(code)}//# sourceMappingURL=${fileName}.map\n`);
      write(`dist/${name}/${fileName}.map`, JSON.stringify(lineMap(map)));
    }
  }
}

/** Writes the types of the entry points beside their code: they are the same in each format. */
export async function bundleTypes(folder, entries, formats) {
  const bundle = await open(folder, entries, '.d.ts', dts());
  for (const name of Object.keys(formats)) {
    await bundle.write({ ...common('es'), dir: `dist/${name}`, chunkFileNames: '[name].d.ts' });
  }
}

function open(folder, entries, ending, plugin) {
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, path]) => [name, `${folder}/${path}${ending}`]),
  );
  return rollup({
    input,
    plugins: [plugin],
    external: (id) => /^[^./]/.test(id) && id !== 'tslib',
    onwarn: ({ message }) => {
      throw new Error(message);
    },
  });
}

/**
 * Names that are exported stay as they are between files too, and a file imports only what it uses. What several entry
 * points need stands in one file beside them, and what {@link EARLY} ones need in another.
 */
function common(format) {
  let files;
  const manualChunks = (id, { getModuleIds, getModuleInfo }) => {
    files ??= sharedFiles([...getModuleIds()].map(getModuleInfo), getModuleInfo);
    return files.get(id);
  };
  return { format, minifyInternalExports: false, hoistTransitiveImports: false, manualChunks };
}

/** Entry points that an application loads before all else: they bring neither Nest nor ioredis along. */
const EARLY = /\/(opentelemetry|prometheus)\//;

/** In which file stands each module that more than one entry point imports, itself or by others. */
function sharedFiles(modules, infoOf) {
  const needed = new Map();
  for (const { id: entry } of modules.filter(({ isEntry }) => isEntry)) {
    const met = new Set([entry]);
    for (const id of met) infoOf(id)?.importedIds.forEach((each) => met.add(each));
    for (const id of met) needed.set(id, [...(needed.get(id) ?? []), entry]);
  }
  const shared = [...needed].filter(([, entries]) => entries.length > 1);
  const fileFor = (entries) => (entries.some((id) => EARLY.test(id)) ? 'telemetry' : 'shared');
  return new Map(shared.map(([id, entries]) => [id, fileFor(entries)]));
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
