// Builds dist/: the ES and the CommonJS modules with their types, and the Lua scripts beside both.
import { execFileSync } from 'node:child_process';
import { globSync } from './glob.mjs';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { asModule } from './lua.mjs';

rmSync('dist', { recursive: true, force: true });
for (const format of ['esm', 'cjs']) {
  execFileSync('node_modules/.bin/tsc', ['-p', `tsconfig.${format}.json`], { stdio: 'inherit' });
  for (const file of globSync('lib/locks', '.lua')) {
    if (file.includes('/includes/')) continue; // written into the scripts that name them
    const target = file.replace(/^lib/, `dist/${format}`) + '.js';
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, asModule(readFileSync(file, 'utf8'), format));
  }
}
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
