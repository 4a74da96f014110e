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

/** An option whose comment ends in its default. */
const OPTION = /@default ([^\n]+?)\s*\*\/\s*readonly (\w+)\?/g;

const documented = new Map(
  filesBelow('lib/engine/options', '.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(OPTION)].map(
      ([, value, name]) => [name!, literal(value!)] as const,
    ),
  ),
);

const { limits, ...module } = MODULE_DEFAULTS;
const constants = new Map<string, unknown>(
  Object.entries({ ...CALL_DEFAULTS, ...MODE_DEFAULTS, ...POLICY_DEFAULTS, ...module, ...limits }),
);

/** What a default in a comment stands for, as the constants have it: durations in ms. */
function literal(text: string): unknown {
  if (text === 'Infinity') return Infinity;
  const value: unknown = JSON.parse(text.replaceAll("'", '"'));
  const duration = typeof value === 'string' && /^\d+(ms|s|m|h|d)$/.test(value);
  return duration ? milliseconds('default', value, { min: 0, max: Infinity }) : value;
}

describe('the defaults in the options’ comments', () => {
  it.each([...constants])('name %s as the code has it', (name, value) => {
    expect(documented.get(name)).toEqual(value);
  });

  it('name nothing that the code does not have', () => {
    expect([...documented.keys()].filter((name) => !constants.has(name))).toEqual([]);
  });
});
