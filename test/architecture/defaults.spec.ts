import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  CALL_DEFAULTS,
  MODE_DEFAULTS,
  MODULE_DEFAULTS,
  milliseconds,
  POLICY_DEFAULTS,
} from '../../lib/engine/options/index.js';
import { filesBelow } from './files-below.js';

/** An option whose comment names its default, as code. */
const OPTION =
  /@default (Infinity|true|false|\d+|'[^']*'|\[\])(?=\s*(?:\*\/|\n))(?:(?!\*\/)[^])*\*\/\s*readonly (\w+)\?/g;

const documented = new Map(
  filesBelow('lib/engine/options', '.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(OPTION)].map(
      ([, value, name]) => [name!, literal(value!)] as const,
    ),
  ),
);

const { limits, ...module } = MODULE_DEFAULTS;
const { format, ...call } = CALL_DEFAULTS;
const constants = new Map<string, unknown>(
  Object.entries({
    ...call,
    ...MODE_DEFAULTS,
    ...POLICY_DEFAULTS,
    ...module,
    ...limits,
    dialect: format.name,
  }),
);

describe('the defaults in the options’ comments', () => {
  it.each([...constants])('name %s as the code has it', (name, value) => {
    expect(documented.get(name)).toEqual(value);
  });

  it('name nothing that the code does not have', () => {
    expect([...documented.keys()].filter((name) => !constants.has(name))).toEqual([]);
  });
});

/** By option, each default that a comment of lib names: options of several things may have one name. */
const everywhere = new Map<string, unknown[]>();
for (const file of filesBelow('lib', '.ts')) {
  for (const [, value, name] of readFileSync(file, 'utf8').matchAll(OPTION)) {
    everywhere.set(name!, [...(everywhere.get(name!) ?? []), literal(value!)]);
  }
}

/** A default in a sentence of a page, as `wait` (10 s), `wait` (10 s by default), the default `ttl` of 30 s. */
const TOLD = [
  /`(\w+)` \((\d+ (?:ms|s|min|h))(?: by default)?\)/g,
  /\bdefault `(\w+)` of (\d+ (?:ms|s|min|h))\b/g,
];

const told = ['README.md', ...filesBelow('docs', '.md')]
  .filter(
    (file) =>
      !/node_modules|^docs\/(api|decisions|bench|faults)\/|command-line|migration/.test(file),
  )
  .flatMap((file) => {
    const page = readFileSync(file, 'utf8');
    return TOLD.flatMap((pattern) =>
      [...page.matchAll(pattern)].map(([, name, value]) => [file, name!, value!] as const),
    ).filter(([, name]) => everywhere.has(name));
  });

describe('the defaults in sentences of the pages', () => {
  it('are found', () => {
    expect(new Set(told.map(([, name]) => name)).size).toBeGreaterThan(5);
  });

  it.each(told)('%s: `%s` is %s, as its comment says', (_, name, value) => {
    const found = value.replace(/^(\d+) (ms|s|m|h)\w*$/, "'$1$2'");
    expect(everywhere.get(name)).toContainEqual(literal(found));
  });
});

/** What a default in a comment stands for, as the constants have it: durations in ms. */
function literal(text: string): unknown {
  if (text === 'Infinity') return Infinity;
  const value: unknown = JSON.parse(text.replaceAll("'", '"'));
  const duration = typeof value === 'string' && /^\d+(ms|s|m|h|d)$/.test(value);
  return duration ? milliseconds('default', value, { min: 0, max: Infinity }) : value;
}
