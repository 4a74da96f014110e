import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { basename, dirname, join, relative } from 'node:path';
import { globSync } from './glob.mjs';

const INCLUDES = fileURLToPath(new URL('../lib/engine/locks/includes/', import.meta.url));
const INCLUDE = /^--- @include ([\w, ]+)\n?/m;
/** Comments, on a line of their own or behind code: no string of a script has two dashes. */
const COMMENT = /^[ \t]*--(?!- @include).*\n|[ \t]+--(?!- @include).*$/gm;
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

/** A Lua script in which each line `--- @include fits, add_holder` is the functions that it names, where they are named for the first time. */
function inlineIncludes(source) {
  return [...piecesOf(withConstants(source), INCLUDED)].map(({ text }) => text).join('');
}

/**
 * What the build writes for a script: the same text without comments and indents, joined from modules that scripts share. The module
 * of a file of includes has the pieces of each: other includes may stand between them.
 */
export function asBuiltModule(file) {
  const includes = relative(dirname(file), INCLUDES);
  if (includes === '') {
    const own = [...new Set(BARE.values())].filter((include) => include.file === basename(file));
    const pieces = own.map(({ name, text }) => [name, text.split(INCLUDE)]);
    return `export default ${JSON.stringify(Object.fromEntries(pieces))};\n`;
  }
  const pieces = [...piecesOf(bare(withConstants(readFileSync(file, 'utf8'))), BARE)];
  const files = new Set(pieces.flatMap(({ include }) => include?.file ?? []));
  const terms = pieces
    .filter(({ text }) => text !== '')
    .map(({ include, at, text }) =>
      include ? `${idOf(include.file)}.${include.name}[${at}]` : JSON.stringify(text),
    );
  const imports = [...files].map(
    (name) => `import ${idOf(name)} from './${join(includes, name)}.js';\n`,
  );
  return `${imports.join('')}export default ${terms.join(' + ')};\n`;
}

/** The text of a script in pieces: the include that each one is from, undefined for its own, and which part of that it is. */
function* piecesOf(source, included, include, met = new Set()) {
  for (const [at, part] of source.split(INCLUDE).entries()) {
    if (at % 2 === 0) {
      yield { include, at, text: part };
      continue;
    }
    for (const name of part.split(', ')) {
      const next = included.get(name);
      if (next === undefined) throw new Error(`No file of includes/ has the function ${name}.`);
      if (!met.has(next)) yield* piecesOf(next.text, included, next, met.add(next));
    }
  }
}

/** By the name of each function in it, what stands between two empty lines of a file of includes/. */
function includesAs(read) {
  const found = new Map();
  for (const path of globSync(INCLUDES, '.lua')) {
    for (const part of withConstants(readFileSync(path, 'utf8')).trimEnd().split('\n\n')) {
      const names = [...part.matchAll(/^local function (\w+)/gm)].map(([, name]) => name);
      const include = { file: basename(path), name: names[0], text: read(`${part}\n`) };
      for (const name of names) found.set(name, include);
    }
  }
  return found;
}

function bare(source) {
  return source.replaceAll(COMMENT, '').replaceAll(INDENT, '');
}

function idOf(file) {
  return `_${basename(file, '.lua')}`;
}

export const INCLUDED = includesAs((text) => text);
const BARE = includesAs(bare);
