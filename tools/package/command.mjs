import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from '../glob.mjs';
import { asBuiltModule } from '../lua.mjs';

/** Lua scripts become modules that share their includes, and the parser of parameter names, which no command needs, is not loaded. */
const ours = {
  name: 'ours',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.lua\.js$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(/\.js$/, '')),
      namespace: 'lua',
    }));
    onLoad({ filter: /^/, namespace: 'lua' }, ({ path }) => ({
      contents: asBuiltModule(path),
      resolveDir: dirname(path),
    }));
    onResolve({ filter: /^acorn$/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
  },
};

/**
 * Writes the command line program into one file without spaces and with short names, so that Node reads it quickly. It has no source map: its users
 * see sentences, and its classes and functions keep their names.
 */
export async function bundleCommand(file) {
  await build({
    entryPoints: ['lib/watch/cli/main.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    packages: 'external',
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: true,
    keepNames: true,
    legalComments: 'none',
    logLevel: 'error',
    banner: { js: '#!/usr/bin/env node' },
    plugins: [ours],
  });
}

// node tools/package/command.mjs: writes it for the present state of lib/ below build/, unless it is there, and prints where.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const state = createHash('sha1');
  for (const source of [
    ...globSync('lib', '.ts'),
    ...globSync('lib', '.lua'),
    import.meta.filename,
  ]) {
    state.update(source).update(readFileSync(source));
  }
  const file = resolve(`build/command-${state.digest('hex').slice(0, 12)}.mjs`);
  if (!existsSync(file)) {
    const draft = `${file}.${process.pid}`;
    await bundleCommand(draft);
    renameSync(draft, file); // nobody sees half of it
  }
  process.stdout.write(file);
}
