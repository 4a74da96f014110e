import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dirname, join, relative } from 'node:path';

const INCLUDES = fileURLToPath(new URL('../lib/engine/locks/includes/', import.meta.url));
const INCLUDE = /^--- @include "([\w-]+)"\n?/m;
const COMMENT = /^[ \t]*--(?!- @include).*\n/gm;
const INDENT = /^[ \t]+/gm;

/** The numbers and markers of the protocol, as a script spells them. */
const CONSTANTS = new Map(
  [
    ...readFileSync(
      new URL('../lib/engine/protocol/constants.ts', import.meta.url),
      'utf8',
    ).matchAll(/^export const (\w+) = (?:'([^']*)'|([-\d_.]+));$/gm),
  ].map(([, name, text, number]) => [
    name,
    text === undefined ? number.replaceAll('_', '') : `'${text}'`,
  ]),
);

/** Lua in which each name of a constant is its value; between quotes, a number alone. */
export function withConstants(source) {
  return source.replaceAll(/\b[A-Z][A-Z_]+\b/g, (name) => CONSTANTS.get(name) ?? name);
}

/** What `import source from './x.lua.js'` finds, made on the fly by Jest. */
export function asModule(source, format) {
  const text = JSON.stringify(inlineIncludes(source));
  return format === 'cjs'
    ? `"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nexports.default = ${text};\n`
    : `export default ${text};\n`;
}

/** A Lua script with every `--- @include "name"` line replaced by lib/engine/locks/includes/name.lua, the first time it is met. */
function inlineIncludes(source) {
  return [...piecesOf(withConstants(source), readInclude)].map(({ text }) => text).join('');
}

/**
 * What the build writes for a script: the same text without comments and indents, joined from modules that scripts share. The module
 * of an include has its pieces: other includes may stand between them.
 */
export function asBuiltModule(file) {
  const source = bare(withConstants(readFileSync(file, 'utf8')));
  const includes = relative(dirname(file), INCLUDES);
  if (includes === '') return `export default ${JSON.stringify(partsOf(source))};\n`;
  const pieces = [...piecesOf(source, (name) => bare(readInclude(name)))];
  const names = new Set(pieces.flatMap(({ include = [] }) => include));
  const terms = pieces
    .filter(({ text }) => text !== '')
    .map(({ include, at, text }) => (include ? `${idOf(include)}[${at}]` : JSON.stringify(text)));
  const imports = [...names].map(
    (name) => `import ${idOf(name)} from './${join(includes, name)}.lua.js';\n`,
  );
  return `${imports.join('')}export default ${terms.join(' + ')};\n`;
}

/** The text of a script in pieces: the include that each one is from, undefined for its own, and which part of that it is. */
function* piecesOf(source, read, include, met = new Set()) {
  for (const [at, part] of partsOf(source).entries()) {
    if (at % 2 === 0) yield { include, at, text: part };
    else if (!met.has(part)) yield* piecesOf(read(part), read, part, met.add(part));
  }
}

/** The parts of a script, with the names of its includes between them. */
function partsOf(source) {
  return source.split(INCLUDE);
}

function bare(source) {
  return source.replaceAll(COMMENT, '').replaceAll(INDENT, '');
}

function readInclude(name) {
  return `${withConstants(readFileSync(join(INCLUDES, `${name}.lua`), 'utf8')).trimEnd()}\n`;
}

function idOf(include) {
  return `_${include.replaceAll('-', '_')}`;
}

// node tools/lua.mjs <file>: the text as Redis gets it from the package.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(
    inlineIncludes(readFileSync(process.argv[2], 'utf8')).replaceAll(COMMENT, ''),
  );
}
