// Compiles main.ts with the toolchain that argv names, as a project would that has only this tool; writes out.mjs.
import { writeFile, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const tsconfigRaw = { compilerOptions: { experimentalDecorators: true, target: 'es2022' } };
const PACKAGES = ['@nestjs/*', 'rxjs', 'ioredis', 'reflect-metadata', 'acorn'];

async function esbuild(options) {
  const { build } = await import('esbuild');
  const fixed = { entryPoints: ['main.ts'], outfile: 'out.mjs', format: 'esm', platform: 'node' };
  const external = [...PACKAGES, 'nest-redis-lock', 'nest-redis-lock/*'];
  await build({ bundle: true, external, tsconfigRaw, target: 'es2022', ...fixed, ...options });
}

/** Each file for itself, as swc and tsc do; the two become one file by esbuild, which changes no name. */
async function eachFile(compile) {
  for (const name of ['app', 'main']) {
    const source = await readFile(`${name}.ts`, 'utf8');
    await writeFile(`${name}.js`, await compile(source, `${name}.ts`));
  }
  await esbuild({ entryPoints: ['main.js'] });
}

async function swc({ metadata, ...options }) {
  const { transform } = await import('@swc/core');
  await eachFile(async (source, filename) => {
    const jsc = {
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: metadata },
      target: 'es2022',
      ...options,
    };
    const settings = { filename, jsc, module: { type: 'es6' }, swcrc: false, minify: !!jsc.minify };
    return (await transform(source, settings)).code;
  });
}

async function tsc() {
  const { default: ts } = await import('typescript');
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  };
  await eachFile((source) => ts.transpileModule(source, { compilerOptions }).outputText);
}

async function webpack({ mode, metadata }) {
  const { default: run } = await import('webpack');
  const jsc = {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: metadata },
    target: 'es2022',
  };
  const use = { loader: 'swc-loader', options: { jsc, module: { type: 'es6' }, swcrc: false } };
  const stats = await promisify(run)({
    mode,
    entry: './main.ts',
    context: process.cwd(),
    target: 'node20',
    devtool: false,
    module: { rules: [{ test: /\.ts$/, use }] },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    experiments: { outputModule: true },
    output: { path: process.cwd(), filename: 'out.mjs', module: true },
    externals: /^[^.]/,
    externalsType: 'module',
  });
  if (stats.hasErrors()) throw new Error(stats.toString());
}

const TOOLS = {
  tsc,
  swc: () => swc({ metadata: true }),
  'swc without metadata': () => swc({ metadata: false }),
  'swc minified': () => swc({ metadata: true, minify: { compress: true, mangle: true } }),
  webpack: () => webpack({ mode: 'development', metadata: true }),
  'webpack without metadata': () => webpack({ mode: 'development', metadata: false }),
  'webpack in production mode': () => webpack({ mode: 'production', metadata: true }),
  esbuild: () => esbuild({}),
  'esbuild --minify': () => esbuild({ minify: true }),
  'esbuild --minify --keep-names': () => esbuild({ minify: true, keepNames: true }),
  'esbuild --minify-identifiers': () => esbuild({ minifyIdentifiers: true }),
  'esbuild --minify-whitespace': () => esbuild({ minifyWhitespace: true }),
  'esbuild --minify with the library inside': () => esbuild({ minify: true, external: PACKAGES }),
};
await TOOLS[process.argv[2]]();
