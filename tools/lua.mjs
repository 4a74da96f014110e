import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const INCLUDES = fileURLToPath(new URL('../lib/locks/includes/', import.meta.url));

/** A Lua script with every `--- @include "name"` line replaced by lib/locks/includes/name.lua, the first time it is met. */
export function inlineIncludes(source, met = new Set()) {
  return source.replaceAll(/^--- @include "([\w-]+)"\n?/gm, (_, name) => {
    if (met.has(name)) return '';
    met.add(name);
    return `${inlineIncludes(readFileSync(join(INCLUDES, `${name}.lua`), 'utf8'), met).trimEnd()}\n`;
  });
}

/** What `import source from './x.lua.js'` finds: built into dist, and made on the fly by Jest. */
export function asModule(source, format) {
  const text = JSON.stringify(inlineIncludes(source));
  return format === 'cjs'
    ? `"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nexports.default = ${text};\n`
    : `export default ${text};\n`;
}

// node tools/lua.mjs <file>: the text as Redis gets it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(inlineIncludes(readFileSync(process.argv[2], 'utf8')));
}
